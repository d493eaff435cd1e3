-- Purpose: every version that was published, newest first in each artefact.
-- Parameters: none.
-- Rows: one a version; the index is NULL in versions that were published before there were segments.
SELECT cache, country, version, rows, published_at, file_sha256, file_bytes, plain_sha256, plain_bytes, index_sha256
FROM artefact_version
ORDER BY cache, country, version DESC;
