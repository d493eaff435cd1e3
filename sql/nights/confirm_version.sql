-- Purpose: records that a build gave exactly the published rows: nothing new is published, and later changes count from this
--   night's snapshot. A version without a content digest or a filter gets that of the build. Deltas and filters that the build
--   made again are changed in what is offered, and lost deltas are removed from it.
-- Parameters: $1 build id, $2 as of.
-- Rows: none.
WITH done AS (
  UPDATE build AS b SET state = 'unchanged'
  FROM night_run AS r
  WHERE b.build_id = $1 AND r.run_id = b.run_id
  RETURNING b.cache, b.country, b.plan ->> 'kind' AS kind, r.transactions, r.cluster, r.evaluated_at,
    b.deltas, (b.plan -> 'basis' ->> 'version')::integer AS version, b.plain_crc32, b.content_sha256, b.segment_rows_max, b.filter
), completed AS (
  UPDATE artefact_version AS v
  SET plain_crc32 = coalesce(v.plain_crc32, done.plain_crc32), content_sha256 = coalesce(v.content_sha256, done.content_sha256),
    segment_rows_max = coalesce(v.segment_rows_max, done.segment_rows_max), filter = coalesce(done.filter, v.filter)
  FROM done JOIN publication AS p USING (cache, country)
  WHERE v.cache = p.cache AND v.country = p.country AND v.version = p.version
    AND (v.content_sha256 IS NULL OR v.filter IS DISTINCT FROM coalesce(done.filter, v.filter))
), kept AS (
  SELECT p.cache, p.country, p.version, d.*
  FROM done JOIN publication AS p USING (cache, country, version),
    jsonb_to_recordset(done.deltas) AS d ("from" integer, sha256 text, bytes bigint, added bigint, changed bigint, removed bigint)
), made_again AS (
  UPDATE artefact_delta AS a
  SET file_sha256 = k.sha256, file_bytes = k.bytes, added = k.added, changed = k.changed, removed = k.removed
  FROM kept AS k
  WHERE a.cache = k.cache AND a.country = k.country AND a.version = k.version AND a.from_version = k."from"
    AND a.file_sha256 <> k.sha256
), lost AS (
  DELETE FROM artefact_delta AS a
  USING done JOIN publication AS p USING (cache, country, version)
  WHERE a.cache = p.cache AND a.country = p.country AND a.version = p.version
    AND a.from_version NOT IN (SELECT "from" FROM kept)
)
UPDATE publication AS p
SET status = 'fresh', stale_code = NULL, stale_reason = NULL, stale_since = NULL, confirmed_as_of = $2,
  basis_transactions = done.transactions, basis_cluster = done.cluster, basis_evaluated_at = done.evaluated_at,
  full_as_of = CASE WHEN done.kind = 'full' THEN $2 ELSE p.full_as_of END
FROM done
WHERE p.cache = done.cache AND p.country = done.country;
