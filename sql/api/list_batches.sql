-- Purpose: a page of the batches of a client, for /v1/batches.
-- Parameters: $1 client, $2 state or NULL for all, $3 batch id after which the page begins (the largest for the first), $4 most rows.
-- Rows: one a batch, from the newest down.
SELECT batch_id, public_id, name, state, mode, requested_model, release, pinned_phone, pinned_digital, settings, items, requested_at, ended_at
FROM verification_batch
WHERE owner = $1 AND batch_id < $3 AND ($2::text IS NULL OR state = $2)
ORDER BY batch_id DESC
LIMIT $4;
