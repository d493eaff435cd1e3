-- Purpose: inserts missing rows for the artefacts of an attempt, so that they can be locked; stale until their first version.
-- Parameters: $1 run id, $2 generation.
-- Rows: none.
INSERT INTO publication (cache, country, status, stale_code, stale_reason, stale_since)
SELECT cache, country, 'stale', 'artefact_not_found', 'Nothing was published yet.', now()
FROM build
WHERE run_id = $1 AND generation = $2
ORDER BY cache, country
ON CONFLICT (cache, country) DO NOTHING;
