-- Purpose: publishes a build as the next version: the row of the version, the pointer to it, and the deltas to it if they were
--   made from the previous version.
-- Parameters: $1 build id, $2 version, $3 as of, $4 categories version.
-- Rows: none.
WITH source AS (
  SELECT b.*, r.transactions, r.cluster, r.evaluated_at
  FROM build AS b JOIN night_run AS r USING (run_id)
  WHERE b.build_id = $1 AND b.state = 'built'
), published AS (
  INSERT INTO artefact_version (cache, country, version, build_id, as_of, built_at, rows, levels, categories_version,
    file_sha256, file_bytes, plain_sha256, plain_bytes, plain_crc32, content_sha256, segment_rows_max, format, index_sha256, index_bytes, segments, filter)
  SELECT cache, country, $2, build_id, $3, built_at, rows, levels_expected, $4,
    file_sha256, file_bytes, plain_sha256, plain_bytes, plain_crc32, content_sha256, segment_rows_max, format, index_sha256, index_bytes, segments, filter
  FROM source
  RETURNING cache, country, version, as_of
), offered AS (
  INSERT INTO artefact_delta (cache, country, from_version, version, file_sha256, file_bytes, added, changed, removed)
  SELECT s.cache, s.country, d."from", $2, d.sha256, d.bytes, d.added, d.changed, d.removed
  FROM source AS s, jsonb_to_recordset(s.deltas) AS d ("from" integer, sha256 text, bytes bigint, added bigint, changed bigint, removed bigint)
  WHERE (s.plan -> 'basis' ->> 'version')::integer = $2::integer - 1
), done AS (
  UPDATE build SET state = 'published' WHERE build_id = $1
)
UPDATE publication AS p
SET version = published.version, status = 'fresh', stale_code = NULL, stale_reason = NULL, stale_since = NULL, confirmed_as_of = published.as_of,
  basis_transactions = s.transactions, basis_cluster = s.cluster, basis_evaluated_at = s.evaluated_at,
  full_as_of = CASE WHEN s.plan ->> 'kind' = 'full' THEN published.as_of ELSE p.full_as_of END
FROM published, source AS s
WHERE p.cache = published.cache AND p.country = published.country;
