-- Purpose: stores an added model, unless there is one of the same name.
-- Parameters: $1 model, $2 family, $3 manifest, $4 digest of the manifest, $5 digest of the weights, $6 by whom, $7 why.
-- Rows: model, if it was stored.
INSERT INTO added_model (model, family, manifest, manifest_sha256, weights_sha256, added_by, reason)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (model) DO NOTHING
RETURNING model;
