-- Purpose: drift reports without their lists, newest first.
-- Parameters: $1 report id or NULL, $2 a model that is the old or the new one or NULL, $3 report id before which to begin or NULL,
--   $4 how many at most.
-- Rows: reports with both models, the digests of their manifests and the counts.
SELECT d.report_id, d.old_model AS "old.model", d.report #>> '{old,manifestSha256}' AS "old.manifest_sha256",
  d.new_model AS "new.model", d.report #>> '{new,manifestSha256}' AS "new.manifest_sha256",
  b.public_id AS batch, d.made_at, d.made_by, d.report -> 'counts' AS counts
FROM drift_report AS d JOIN verification_batch AS b USING (batch_id)
WHERE ($1::bigint IS NULL OR d.report_id = $1) AND ($2::text IS NULL OR $2 IN (d.old_model, d.new_model))
  AND ($3::bigint IS NULL OR d.report_id < $3)
ORDER BY d.report_id DESC
LIMIT $4;
