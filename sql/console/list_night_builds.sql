-- Purpose: the builds of the current attempt at a night with all their facts, finished or not
-- Parameters: $1 run id
-- Rows: one a build, by cache and country; version: published after the night; rows_before: of the version published before;
--   both NULL if there is none
SELECT b.cache, b.country, b.state, coalesce(v.version, before.version) AS version, b.rows_expected, b.rows,
  before.rows AS rows_before,
  b.attempts, b.started_at, b.built_at, (b.facts #>> '{file,bytes}')::bigint AS bytes, (b.facts #>> '{file,plainBytes}')::bigint AS plain_bytes,
  b.failure_code IS NOT NULL AS failure, b.failure_code AS "failure.code", b.failure_reason AS "failure.reason"
FROM build AS b
JOIN night_run AS r ON r.run_id = b.run_id AND r.generation = b.generation
LEFT JOIN artefact_version AS v ON v.cache = b.cache AND v.country = b.country AND v.build_id = b.build_id
LEFT JOIN LATERAL (
  SELECT o.version, (o.facts ->> 'rows')::bigint AS rows
  FROM artefact_version AS o
  WHERE o.cache = b.cache AND o.country = b.country AND o.build_id <> b.build_id AND o.published_at <= coalesce(r.finished_at, now())
  ORDER BY o.version DESC
  LIMIT 1
) AS before ON true
WHERE b.run_id = $1
ORDER BY b.cache, b.country
