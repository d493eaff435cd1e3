-- Purpose: every version that was published, newest first in each artefact.
-- Parameters: none.
-- Rows: one a version.
SELECT cache, country, version, rows, published_at, file_sha256, file_bytes, plain_sha256, plain_bytes
FROM artefact_version
ORDER BY cache, country, version DESC;
