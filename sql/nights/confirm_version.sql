-- Purpose: records that a build gave exactly the published text: no new version. Where the build made a file again that was lost, its facts
--   take the place of those of the version.
-- Parameters: $1 build id, $2 as of.
-- Rows: none.
WITH done AS (
  UPDATE build SET state = 'unchanged' WHERE build_id = $1 RETURNING cache, country, basis_version, facts
), repaired AS (
  UPDATE artefact_version AS v SET facts = done.facts
  FROM done
  WHERE v.cache = done.cache AND v.country = done.country AND v.version = done.basis_version AND v.facts <> done.facts
)
UPDATE publication AS p
SET status = 'fresh', stale_code = NULL, stale_reason = NULL, stale_since = NULL, confirmed_as_of = $2
FROM done
WHERE p.cache = done.cache AND p.country = done.country;
