-- Purpose: stores a sealed file.
-- Parameters: $1 kind, $2 SHA-256 of the plain bytes, $3 their number, $4 sealed bytes, $5 wrapped key, $6 id of the master key.
-- Rows: one: its id.
INSERT INTO document (kind, sha256, bytes, sealed_content, wrapped_key, master_key_id)
VALUES ($1, $2, $3, $4, $5, $6)
RETURNING document_id;
