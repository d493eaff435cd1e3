-- Purpose: records what a worker has made of a share that was lent to it, unless the build has taken it back.
-- Parameters: $1 build id, $2 attempt, $3 share, $4 what was made (JSON text).
-- Rows: none.
UPDATE build_share SET state = 'made', made = $4::jsonb
WHERE build_id = $1 AND attempt = $2 AND share = $3 AND state = 'lent';
