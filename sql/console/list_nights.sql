-- Purpose: the nights of some days, newest first
-- Parameters: $1 first day, $2 last day, $3 at most this many
-- Rows: one a night; only: the requested artefacts, absent for all; files: 0 until they are counted
SELECT r.run_id, r.night_date AS date, r.trigger, r.state, r.outcome,
  r.only_cache IS NOT NULL AS only, r.only_cache AS "only.cache", coalesce(r.only_country, '') AS "only.country",
  r.accept_shrink, r.requested_by, r.requested_at, r.opened_at, r.finished_at, b.files, b.files_ended, b.files_failed, b.rows, b.rows_expected
FROM night_run AS r
CROSS JOIN LATERAL (
  SELECT count(*) AS files,
    count(*) FILTER (WHERE state NOT IN ('pending', 'running')) AS files_ended,
    count(*) FILTER (WHERE state = 'failed') AS files_failed,
    coalesce(sum(rows), 0)::bigint AS rows,
    coalesce(sum(rows_expected), 0)::bigint AS rows_expected
  FROM build WHERE run_id = r.run_id AND generation = r.generation
) AS b
WHERE r.night_date BETWEEN $1::date AND $2::date
ORDER BY r.run_id DESC
LIMIT $3
