-- Purpose: stores a submitted feed as a queued load.
-- Parameters: $1 feed, $2 file name, $3 sha256, $4 bytes, $5 who submitted it, $6 source, $7 options (json).
-- Rows: one: load_id.
INSERT INTO feed_load (feed, file_name, file_sha256, file_bytes, submitted_by, source, options)
VALUES ($1, $2, $3, $4, $5, $6, $7)
RETURNING load_id;
