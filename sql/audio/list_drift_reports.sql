-- Purpose: drift reports without their lists, newest first.
-- Parameters: $1 report id or NULL, $2 a model that is the old or the new one or NULL, $3 how many at most.
-- Rows: reports with both models, the digests of their manifests and the counts.
SELECT d.report_id, d.old_model, d.new_model, d.report #>> '{old,manifestSha256}' AS old_manifest_sha256, d.report #>> '{new,manifestSha256}' AS new_manifest_sha256,
  b.public_id AS batch, d.made_at, d.made_by, d.report -> 'counts' AS counts
FROM drift_report AS d JOIN verification_batch AS b USING (batch_id)
WHERE ($1::bigint IS NULL OR d.report_id = $1) AND ($2::text IS NULL OR $2 IN (d.old_model, d.new_model))
ORDER BY d.report_id DESC
LIMIT $3;
