-- Purpose: the submitted items of a batch, to compare them with a repeated submission.
-- Parameters: $1 batch id, $2 first line, $3 last line.
-- Rows: one an item, by line; refusal: why it was refused at submission, or NULL.
SELECT line, source, requested_model, audio_sha256, CASE WHEN audio_sha256 IS NULL THEN reason END AS refusal
FROM verification WHERE batch_id = $1 AND line BETWEEN $2 AND $3 ORDER BY line;
