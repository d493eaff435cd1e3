-- Purpose: numbers of a brand that are in some states, with their standings to the letters of the brand.
-- Parameters: $1 brand id, $2 phones or NULL for all, $3 instant at which letters must be in date, $4 states, $5 the wanted pairs of
--   state and standing, with a space between.
-- Rows: phone, state, standing; by phone. Standing: taken (another brand has it live, or it was permanently rejected with one; not asked
--   for a verified number), covered (a letter in force of the published company names it), pending (a letter that waits, or the approved
--   one of the pending revision, names it or came with it), none.
-- The sets are united and grouped, never joined: a plan of nested loops over 100,000 numbers, which the planner chose by statistics from
-- before they were inserted, ran for half an hour.
WITH letters AS MATERIALIZED (
  SELECT l.letter_id, l.operation_id, in_force.yes AND l.legal_name = r.profile ->> 'legalName' AS covers,
    l.state IN ('submitted', 'in_review') OR (in_force.yes AND l.revision IS NOT DISTINCT FROM b.pending_revision) AS waits
  FROM brand AS b
  JOIN brand_revision AS r ON r.brand_id = b.brand_id AND r.revision = coalesce(b.approved_revision, b.pending_revision, b.last_revision)
  JOIN letter AS l ON l.brand_id = b.brand_id
  CROSS JOIN LATERAL (SELECT l.state IN ('approved', 'expiring') AND l.valid_until > $3 AS yes) AS in_force
  WHERE b.brand_id = $1
), number AS (
  SELECT phone, max(state) AS state, bool_or(covers) AS is_covered, bool_or(waits) AS is_pending
  FROM (
    SELECT n.phone, n.state, false AS covers, false AS waits
    FROM brand_number AS n
    WHERE n.brand_id = $1 AND n.state = ANY ($4) AND ($2::text[] IS NULL OR n.phone = ANY ($2))
    UNION ALL
    SELECT c.phone, NULL, true, false
    FROM letter_number AS c
    WHERE c.letter_id = ANY (ARRAY(SELECT letter_id FROM letters WHERE covers)) AND ($2::text[] IS NULL OR c.phone = ANY ($2))
    UNION ALL
    SELECT c.phone, NULL, false, true
    FROM letter_number AS c
    WHERE c.letter_id = ANY (ARRAY(SELECT letter_id FROM letters WHERE waits)) AND ($2::text[] IS NULL OR c.phone = ANY ($2))
    UNION ALL
    SELECT o.phone, NULL, false, true
    FROM branding_operation_row AS o
    WHERE o.operation_id = ANY (ARRAY(SELECT operation_id FROM letters WHERE waits)) AND ($2::text[] IS NULL OR o.phone = ANY ($2))
  ) AS part
  GROUP BY phone
  HAVING count(state) > 0
)
SELECT phone, state, standing
FROM (
  SELECT n.phone, n.state,
    CASE
      WHEN n.state <> 'verified' AND EXISTS (
        SELECT FROM brand_number AS o
        WHERE o.phone = n.phone AND o.brand_id <> $1 AND o.state IN ('verified', 'suspended', 'permanently_rejected')) THEN 'taken'
      WHEN n.is_covered THEN 'covered'
      WHEN n.is_pending THEN 'pending'
      ELSE 'none'
    END AS standing
  FROM number AS n
) AS standing
WHERE state || ' ' || standing = ANY ($5)
ORDER BY phone;
