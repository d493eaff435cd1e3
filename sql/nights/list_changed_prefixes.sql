-- Purpose: the keys and key ranges of each artefact whose rows may have changed since a basis, from the marks of writers and from brands
--   that begin or end between the two instants. A change of a brand concerns the profile cache of each country that has
--   numbers in its range as this snapshot sees them; a number that changes its country has marks of its own.
-- Parameters: $1 basis (pg_snapshot as text), $2 and $3 the instants at which brands were live and must be live, in any
--   order, $4 prefixes of one artefact at most.
-- Rows: cache, country ('*' for every country), and the prefixes, in any order, some perhaps twice; NULL where they are more than $4.
WITH marked AS (
  -- A mark of a future transaction was restored from another cluster.
  SELECT DISTINCT cache, country, prefix FROM change_mark
  WHERE NOT pg_visible_in_snapshot(changed_by, $1::pg_snapshot) AND changed_by < pg_snapshot_xmax(pg_current_snapshot())
), branded AS (
  SELECT prefix FROM marked WHERE cache = 'branded_phones'
  UNION
  SELECT phone FROM branded_number
  WHERE (live_from > least($2::timestamptz, $3::timestamptz) AND live_from <= greatest($2::timestamptz, $3::timestamptz))
    OR (live_until > least($2::timestamptz, $3::timestamptz) AND live_until <= greatest($2::timestamptz, $3::timestamptz))
), changed AS (
  SELECT cache, country, prefix FROM marked WHERE cache <> 'branded_phones'
  UNION ALL
  SELECT 'branded_phones', '', prefix FROM branded
  UNION ALL
  SELECT 'phones', n.country, b.prefix
  FROM branded AS b JOIN phone_number AS n ON n.phone >= b.prefix AND n.phone < b.prefix || ':'
  WHERE b.prefix <> '+' AND n.country IS NOT NULL
)
SELECT cache, country, CASE WHEN count(*) <= $4::integer THEN array_agg(prefix) END AS list
FROM changed
GROUP BY cache, country;
