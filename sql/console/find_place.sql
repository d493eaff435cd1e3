-- Purpose: what an id, the date of a night or the handle of a brand refers to.
-- Parameters: $1 id (uuid) or NULL, $2 date or NULL, $3 handle or NULL.
-- Rows: at most one: kind (`verification`, `batch`, `voice`, `night`, `brand`) and its name in addresses; of a date the latest night.
SELECT kind, name
FROM (
  SELECT 'verification' AS kind, public_id::text AS name, 0::bigint AS latest FROM verification WHERE public_id = $1::uuid
  UNION ALL
  SELECT 'batch', public_id::text, 0 FROM verification_batch WHERE public_id = $1::uuid
  UNION ALL
  SELECT 'voice', public_id::text, 0 FROM voiceprint WHERE public_id = $1::uuid
  UNION ALL
  SELECT 'night', run_id::text, run_id FROM night_run WHERE night_date = $2::date
  UNION ALL
  SELECT 'brand', handle, 0 FROM brand WHERE handle = $3
) AS found
ORDER BY latest DESC
LIMIT 1
