-- Purpose: makes numbers submitted with a brand, new ones and those that may be submitted again, with an event for each.
-- Parameters: $1 brand id; arrays of one value a number: $2 phone, $3 country or NULL, $4 state before or NULL; $5 call reason
--   or NULL, $6 actor, $7 reason, $8 operation id.
-- Rows: none.
WITH given AS MATERIALIZED (
  SELECT * FROM unnest($2::text[], $3::text[], $4::text[]) AS row (phone, country, before)
), submitted AS (
  INSERT INTO brand_number AS n (brand_id, phone, country, call_reason, state)
  SELECT $1, phone, country, $5, 'submitted' FROM given ORDER BY phone
  ON CONFLICT (brand_id, phone) DO UPDATE SET state = 'submitted', call_reason = coalesce($5, n.call_reason), submitted_at = now(), changed_at = now()
)
INSERT INTO branding_event (brand_id, subject, phone, action, before, after, actor, reason, operation_id)
SELECT $1, 'number', phone, 'submit', before, 'submitted', $6, $7, $8 FROM given ORDER BY phone;
