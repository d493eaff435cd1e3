-- Purpose: the latest batches.
-- Parameters: $1 owner or NULL for all, $2 state or NULL for all, $3 batch id before which to begin or NULL, $4 how many at most.
-- Rows: batches, the newest first.
SELECT
  batch_id, public_id, owner, idempotency_key, name, mode, requested_model, release, pinned_phone, pinned_digital,
  settings, settings_sha256, state, generation, items, requested_by, requested_at, ended_at
FROM verification_batch
WHERE ($1::text IS NULL OR owner = $1) AND ($2::text IS NULL OR state = $2) AND ($3::bigint IS NULL OR batch_id < $3)
ORDER BY batch_id DESC
LIMIT $4;
