-- Purpose: counts the items of a batch whose file was never stored, such as missing files.
-- Parameters: $1 batch id.
-- Rows: one: items.
SELECT count(*) AS items FROM verification WHERE batch_id = $1 AND audio_sha256 IS NULL;
