-- Purpose: when defaults were set, newest first.
-- Parameters: $1 a model.
-- Rows: each time that it became the default of its family, and each time that another one took its place.
SELECT c.family, c.model, c.since, c.set_by, c.reason, c.report_id, c.forced
FROM (SELECT *, lag(model) OVER (PARTITION BY family ORDER BY default_id) AS before FROM model_default) AS c
WHERE $1 IN (c.model, c.before)
ORDER BY c.default_id DESC;
