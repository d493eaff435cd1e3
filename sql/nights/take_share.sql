-- Purpose: takes a share back for the build itself, unless another worker has made it.
-- Parameters: $1 build id, $2 attempt, $3 share.
-- Rows: one, with what was made of it, or NULL; none if a later attempt has replaced the shares.
UPDATE build_share SET state = CASE state WHEN 'made' THEN 'made' ELSE 'taken' END
WHERE build_id = $1 AND attempt = $2 AND share = $3
RETURNING made;
