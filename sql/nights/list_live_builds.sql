-- Purpose: the builds whose unfinished files and stored files must not be swept.
-- Parameters: none.
-- Rows: one a build of the current attempt at a night that is not finished.
SELECT b.build_id, b.cache, b.country, b.facts #>> '{file,sha256}' AS file_sha256
FROM build AS b JOIN night_run AS r ON r.run_id = b.run_id AND r.generation = b.generation
WHERE r.state <> 'finished';
