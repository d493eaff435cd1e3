-- Purpose: stores what was read from a document, sealed.
-- Parameters: $1 document id, $2 sealed reading.
-- Rows: none.
UPDATE document SET sealed_reading = $2 WHERE document_id = $1 AND destroyed_at IS NULL;
