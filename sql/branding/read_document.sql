-- Purpose: the sealed parts of a document; all of them NULL once it is destroyed.
-- Parameters: $1 document id.
-- Rows: none or one.
SELECT sha256, sealed_content, sealed_reading, wrapped_key, master_key_id FROM document WHERE document_id = $1;
