-- Purpose: records that a file was published, so that earlier releases of it no longer apply.
-- Parameters: $1 build id that was published.
-- Rows: none.
UPDATE night_release AS r SET used_by_build_id = b.build_id
FROM build AS b
WHERE b.build_id = $1 AND r.cache = b.cache AND r.country = b.country AND r.used_by_build_id IS NULL;
