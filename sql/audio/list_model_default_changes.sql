-- Purpose: when defaults were set, newest first.
-- Parameters: $1 a model or NULL for all, $2 how many at most or NULL.
-- Rows: each time that a default was set: of a model, when it became the default of its family and when another one took its place.
--   before: NULL where that was the registry's.
SELECT c.family, c.model, c.since, c.set_by, c.reason, c.report_id, c.forced, c.before
FROM (SELECT *, lag(model) OVER (PARTITION BY family ORDER BY default_id) AS before FROM model_default) AS c
WHERE $1::text IS NULL OR $1 IN (c.model, c.before)
ORDER BY c.default_id DESC
LIMIT $2;
