-- Purpose: makes numbers submitted with a brand, new ones and those that may be submitted again, with an event for each.
-- Parameters: $1 brand id; arrays of one value a number: $2 phone, $3 country or NULL; $4 call reason or NULL, $5 states from
--   which a number may be submitted again, $6 actor, $7 reason, $8 operation id.
-- Rows: one: submitted (numbers).
WITH given AS (
  SELECT * FROM unnest($2::text[], $3::text[]) AS row (phone, country)
), before AS (
  SELECT n.phone, n.state FROM brand_number AS n JOIN given USING (phone) WHERE n.brand_id = $1
), submitted AS (
  INSERT INTO brand_number AS n (brand_id, phone, country, call_reason, state)
  SELECT $1, phone, country, $4, 'submitted' FROM given ORDER BY phone
  ON CONFLICT (brand_id, phone) DO UPDATE SET state = 'submitted', call_reason = coalesce($4, n.call_reason), submitted_at = now(), changed_at = now()
  WHERE n.state = ANY ($5)
  RETURNING phone
), recorded AS (
  INSERT INTO branding_event (brand_id, subject, phone, action, before, after, actor, reason, operation_id)
  SELECT $1, 'number', phone, 'submit', before.state, 'submitted', $6, $7, $8
  FROM submitted LEFT JOIN before USING (phone) ORDER BY phone
)
SELECT count(*) AS submitted FROM submitted;
