-- Purpose: the builds of the current attempt at a night with all their facts, finished or not
-- Parameters: $1 run id
-- Rows: one a build, by cache and country; version: published after the night; rows_before: of the version published before;
--   both NULL if there is none
SELECT b.cache, b.country, b.state, b.plan ->> 'kind' AS kind, coalesce(v.version, before.version) AS version, b.rows_expected, b.rows,
  before.rows AS rows_before, CASE WHEN b.built_at IS NOT NULL THEN b.rows_read END AS rows_read, b.segments, b.segments_differing,
  b.attempts, b.started_at, b.built_at, b.file_bytes AS bytes, b.plain_bytes,
  b.failure_code IS NOT NULL AS failure, b.failure_code AS "failure.code", b.failure_reason AS "failure.reason"
FROM build AS b
JOIN night_run AS r ON r.run_id = b.run_id AND r.generation = b.generation
LEFT JOIN artefact_version AS v ON v.cache = b.cache AND v.country = b.country AND v.build_id = b.build_id
LEFT JOIN LATERAL (
  SELECT o.version, o.rows
  FROM artefact_version AS o
  WHERE o.cache = b.cache AND o.country = b.country AND o.build_id <> b.build_id AND o.published_at <= coalesce(r.finished_at, now())
  ORDER BY o.version DESC
  LIMIT 1
) AS before ON true
WHERE b.run_id = $1
ORDER BY b.cache, b.country
