-- Purpose: list when defaults of families were set here, newest first
-- Parameters: $1 at most so many
-- Rows: family, model, before (null: the default of the registry), since, set_by, reason, report_id, forced
SELECT c.family, c.model, c.before, c.since, c.set_by, c.reason, c.report_id, c.forced
FROM (SELECT *, lag(model) OVER (PARTITION BY family ORDER BY default_id) AS before FROM model_default) AS c
ORDER BY c.default_id DESC
LIMIT $1
