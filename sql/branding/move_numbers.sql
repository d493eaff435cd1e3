-- Purpose: moves numbers of a brand from one state to another, with an event for each.
-- Parameters: $1 brand id, $2 phones, $3 old state, $4 new state, $5 action, $6 actor, $7 reason, $8 operation id or NULL, $9 instant of
--   the move, at which an expired number ends.
-- Rows: none.
WITH moved AS (
  UPDATE brand_number AS n
  SET state = $4, changed_at = clock_timestamp(),
    verified_at = CASE WHEN $5::text IN ('verify', 'renew') THEN clock_timestamp() ELSE n.verified_at END,
    ended_at = CASE $5::text WHEN 'expire' THEN $9::timestamptz WHEN 'verify' THEN NULL WHEN 'renew' THEN NULL ELSE n.ended_at END
  WHERE n.brand_id = $1 AND n.phone = ANY ($2)
)
INSERT INTO branding_event (brand_id, subject, phone, action, before, after, actor, reason, operation_id)
SELECT $1, 'number', phone, $5, $3, $4, $6, $7, $8 FROM unnest($2::text[]) AS given (phone);
