-- Purpose: the newest drift report of two models as they are now.
-- Parameters: $1 and $2 the old model and the digest of its manifest, $3 and $4 those of the new one.
-- Rows: one with its id and the number of recordings that were compared, or none.
SELECT report_id, (report #>> '{counts,compared}')::integer AS compared
FROM drift_report
WHERE old_model = $1 AND new_model = $3 AND report #>> '{old,manifestSha256}' = $2 AND report #>> '{new,manifestSha256}' = $4
ORDER BY report_id DESC
LIMIT 1;
