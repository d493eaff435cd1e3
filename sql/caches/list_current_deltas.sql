-- Purpose: the deltas that lead to the versions that readers are given.
-- Parameters: none.
-- Rows: one a delta, newest first in each artefact.
SELECT d.cache, d.country, d.from_version, d.version, d.file_sha256, d.file_bytes, d.added, d.changed, d.removed
FROM artefact_delta AS d JOIN publication AS p USING (cache, country, version)
ORDER BY d.cache, d.country, d.from_version DESC;
