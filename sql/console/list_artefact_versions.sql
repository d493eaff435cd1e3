-- Purpose: the versions of an artefact, newest first, each with the delta from the version before it
-- Parameters: $1 cache, $2 country, $3 only versions before this one (null: from the newest), $4 at most this many
-- Rows: one a version; no delta where none leads to it.
SELECT v.version, b.run_id, v.as_of, v.published_at, (v.facts ->> 'rows')::bigint AS rows, (v.facts #>> '{file,bytes}')::bigint AS bytes,
  (v.facts #>> '{file,plainBytes}')::bigint AS plain_bytes, v.facts #>> '{file,sha256}' AS sha256,
  d.step IS NOT NULL AS delta, (d.step ->> 'bytes')::bigint AS "delta.bytes", (d.step ->> 'added')::bigint AS "delta.added",
  (d.step ->> 'changed')::bigint AS "delta.changed", (d.step ->> 'removed')::bigint AS "delta.removed"
FROM artefact_version AS v
JOIN build AS b USING (build_id)
LEFT JOIN LATERAL (
  SELECT step FROM jsonb_array_elements(v.facts -> 'deltas') AS step WHERE (step ->> 'from')::integer = v.version - 1) AS d ON true
WHERE v.cache = $1 AND v.country = $2 AND ($3::integer IS NULL OR v.version < $3)
ORDER BY v.version DESC
LIMIT $4
