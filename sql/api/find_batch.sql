-- Purpose: a batch, for /v1/batches/{id}.
-- Parameters: $1 public id, $2 client.
-- Rows: none or one; none also for a batch of another client.
SELECT batch_id, public_id, name, state, mode, requested_model, release, pinned_phone, pinned_digital, settings, items, requested_at, ended_at
FROM verification_batch
WHERE public_id = $1 AND owner = $2;
