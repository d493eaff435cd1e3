-- Purpose: a batch as it stands, for a job.
-- Parameters: $1 batch id.
-- Rows: one, or none if there is no such batch.
SELECT
  batch_id, public_id, owner, idempotency_key, name, mode, requested_model, release, pinned_phone, pinned_digital,
  settings, settings_sha256, state, generation, items, requested_by, requested_at, ended_at
FROM verification_batch WHERE batch_id = $1;
