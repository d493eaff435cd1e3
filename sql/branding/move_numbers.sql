-- Purpose: moves numbers of a brand from some states to another, with an event for each. A number that another brand has
--   taken meanwhile, or that was finally rejected with another, is not renewed.
-- Parameters: $1 brand id, $2 phones or NULL for all, $3 old states, $4 standings, $5 new
--   state, $6 action, $7 actor, $8 reason, $9 operation id or NULL, $10 instant at which letters must be in date.
-- Rows: one: moved (numbers).
-- A number is covered by a letter in force of the company that is published; a letter of the company that waits in the pending
-- revision makes it pending. The indexes are read for each number: a join would rely on estimates, which are wrong for rows that this
-- transaction has inserted, and take quadratic time for 100,000 numbers.
WITH company AS MATERIALIZED (
  SELECT r.profile ->> 'legalName' AS legal_name
  FROM brand AS b
  JOIN brand_revision AS r ON r.brand_id = b.brand_id AND r.revision = coalesce(b.approved_revision, b.pending_revision, b.last_revision)
  WHERE b.brand_id = $1
), standing AS (
  SELECT n.phone, n.state AS before,
    CASE
      WHEN EXISTS (
        SELECT FROM letter_number AS c JOIN letter AS l USING (letter_id)
        WHERE c.phone = n.phone AND l.brand_id = $1 AND l.state IN ('approved', 'expiring') AND l.valid_until > $10
          AND l.legal_name = (SELECT legal_name FROM company)) THEN 'covered'
      WHEN EXISTS (
        SELECT FROM letter AS l
        WHERE l.brand_id = $1
          AND (l.state IN ('submitted', 'in_review')
            OR (l.state IN ('approved', 'expiring') AND l.valid_until > $10 AND l.revision = (SELECT pending_revision FROM brand WHERE brand_id = $1)))
          AND (EXISTS (SELECT FROM letter_number AS c WHERE c.letter_id = l.letter_id AND c.phone = n.phone)
            OR EXISTS (SELECT FROM branding_operation_row AS r WHERE r.operation_id = l.operation_id AND r.phone = n.phone))) THEN 'pending'
      ELSE 'none'
    END AS standing
  FROM brand_number AS n
  WHERE n.brand_id = $1 AND n.state = ANY ($3) AND ($2::text[] IS NULL OR n.phone = ANY ($2))
    AND ($6::text <> 'renew' OR NOT EXISTS (
      SELECT FROM brand_number AS other
      WHERE other.phone = n.phone AND other.brand_id <> $1 AND other.state IN ('submitted', 'in_review', 'verified', 'suspended', 'permanently_rejected')))
), moved AS (
  UPDATE brand_number AS n
  SET state = $5, changed_at = clock_timestamp(),
    verified_at = CASE WHEN $6::text IN ('verify', 'renew') THEN clock_timestamp() ELSE n.verified_at END,
    ended_at = CASE $6::text WHEN 'expire' THEN $10::timestamptz WHEN 'verify' THEN NULL WHEN 'renew' THEN NULL ELSE n.ended_at END
  FROM standing AS s
  WHERE n.brand_id = $1 AND n.phone = s.phone AND s.standing = ANY ($4)
  RETURNING n.phone, s.before
), recorded AS (
  INSERT INTO branding_event (brand_id, subject, phone, action, before, after, actor, reason, operation_id)
  SELECT $1, 'number', phone, $6, before, $5, $7, $8, $9 FROM moved ORDER BY phone
)
SELECT count(*) AS moved FROM moved;
