-- Purpose: the signed documents that are to be served.
-- Parameters: none.
-- Rows: one a document, `superseded` for those of sets before the present one.
SELECT name, sha256, superseded_at IS NOT NULL AS superseded FROM trust_document;
