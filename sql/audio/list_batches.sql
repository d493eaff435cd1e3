-- Purpose: batches, the newest first, or one.
-- Parameters: $1 public id or NULL, $2 batch id or NULL, $3 owner or NULL for all, $4 state or NULL for all, $5 batch id before which to begin
--   or NULL, $6 how many at most.
-- Rows: one a batch.
SELECT
  public_id AS id, batch_id, owner, idempotency_key AS key, name, mode, requested_model, release, pinned_phone AS "pinned.phone",
  pinned_digital AS "pinned.digital", settings, settings_sha256, state, generation, items, requested_by, requested_at, ended_at
FROM verification_batch
WHERE ($1::uuid IS NULL OR public_id = $1) AND ($2::bigint IS NULL OR batch_id = $2) AND ($3::text IS NULL OR owner = $3)
  AND ($4::text IS NULL OR state = $4) AND ($5::bigint IS NULL OR batch_id < $5)
ORDER BY batch_id DESC
LIMIT $6;
