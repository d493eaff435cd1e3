-- Purpose: the models that were added to the shipped ones.
-- Parameters: none.
-- Rows: model, family, manifest, digests of the manifest and of the weights, when, by whom and why, oldest first.
SELECT model, family, manifest, manifest_sha256, weights_sha256,
  added_at AS "added.at", added_by AS "added.by", reason AS "added.reason"
FROM added_model
ORDER BY added_at, model;
