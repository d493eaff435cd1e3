-- Purpose: the present set of signed metadata.
-- Parameters: none.
-- Rows: the newest root, targets, snapshot and timestamp; none before `trust init`.
SELECT DISTINCT ON (kind) kind, body
FROM trust_document
WHERE superseded_at IS NULL AND kind <> 'manifest'
ORDER BY kind, CASE WHEN kind = 'root' THEN split_part(name, '.', 1)::integer ELSE 0 END DESC;
