-- Purpose: stores a version of the root. Roots are kept: clients follow them one by one.
-- Parameters: $1 name, $2 digest, $3 body, $4 time.
-- Rows: none.
INSERT INTO trust_document (name, sha256, kind, body, signed_at) VALUES ($1, $2, 'root', $3, $4);
