-- Purpose: every version that was published, newest first in each artefact.
-- Parameters: none.
-- Rows: one a version; `deltas` are those to the published version, newest first: those to earlier ones are not kept.
SELECT v.cache, v.country, v.version, v.version = max(v.version) OVER (PARTITION BY v.cache, v.country) AS current, v.published_at,
  CASE WHEN p.version IS NULL THEN v.facts || '{"deltas": []}' ELSE v.facts END AS facts
FROM artefact_version AS v LEFT JOIN publication AS p USING (cache, country, version)
ORDER BY v.cache, v.country, v.version DESC;
