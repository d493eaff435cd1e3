-- Purpose: signed documents by their digests.
-- Parameters: $1 digests.
-- Rows: one a document that is still stored.
SELECT name, sha256, body FROM trust_document WHERE sha256 = ANY ($1::text[]);
