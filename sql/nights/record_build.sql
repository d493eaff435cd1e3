-- Purpose: records that a build has stored its files, which are not published yet.
-- Parameters: $1 build id, $2 attempt, $3 facts (JSON text), $4 moves of labels (JSON text), NULL if they are not known.
-- Rows: none.
UPDATE build
SET state = 'built', built_at = now(), facts = $3::jsonb, rows = ($3::jsonb ->> 'rows')::bigint, rows_expected = ($3::jsonb ->> 'rows')::bigint,
  moves = $4::jsonb, failure_code = NULL, failure_reason = NULL
WHERE build_id = $1 AND attempts = $2 AND state = 'running';
