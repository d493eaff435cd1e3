-- Purpose: the default model of each family, where it was set.
-- Parameters: none.
-- Rows: family, model, since when: the newest row of each family.
SELECT DISTINCT ON (family) family, model, since
FROM model_default
ORDER BY family, default_id DESC;
