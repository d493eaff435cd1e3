-- Purpose: the key ranges of each artefact whose rows may have changed since a basis, from the marks of writers and from brands
--   that begin or end between the two instants.
-- Parameters: $1 basis (pg_snapshot as text), $2 and $3 the instants at which brands were live and must be live, in either
--   order, $4 prefixes of one artefact at most.
-- Rows: cache, country ('*' for every country), number of prefixes, and the prefixes; NULL where they are more than $4.
WITH marked AS (
  SELECT cache, country, prefix FROM change_mark WHERE NOT pg_visible_in_snapshot(changed_by, $1::pg_snapshot)
), crossed AS (
  SELECT phone FROM branded_number
  WHERE (live_from > least($2::timestamptz, $3::timestamptz) AND live_from <= greatest($2::timestamptz, $3::timestamptz))
    OR (live_until > least($2::timestamptz, $3::timestamptz) AND live_until <= greatest($2::timestamptz, $3::timestamptz))
), changed AS (
  SELECT cache, country, prefix FROM marked
  UNION
  SELECT 'branded_phones', '', left(phone, 8) FROM crossed
  UNION
  SELECT 'phones', n.country, left(n.phone, 8) FROM crossed JOIN phone_number AS n USING (phone) WHERE n.country IS NOT NULL
)
SELECT cache, country, count(*) AS prefixes, CASE WHEN count(*) <= $4::integer THEN array_agg(prefix ORDER BY prefix) END AS list
FROM changed
GROUP BY cache, country;
