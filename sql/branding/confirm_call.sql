-- Purpose: records that the code of a call was entered; the last call completes the proof, with an event for each number.
-- Parameters: $1 call id, $2 days that a proof is valid, $3 actor.
-- Rows: none or one (proven): valid until, numbers.
WITH confirmed AS (
  UPDATE number_proof_call SET confirmed_at = coalesce(confirmed_at, clock_timestamp()) WHERE call_id = $1
  RETURNING proof_id
), proven AS (
  UPDATE number_proof AS p SET state = 'proven', ended_at = clock_timestamp(), valid_until = clock_timestamp() + make_interval(days => $2)
  FROM confirmed AS c
  WHERE p.proof_id = c.proof_id AND p.state = 'open'
    AND NOT EXISTS (SELECT FROM number_proof_call AS o WHERE o.proof_id = p.proof_id AND o.call_id <> $1 AND o.confirmed_at IS NULL)
  RETURNING p.proof_id, p.brand_id, p.valid_until
), members AS (
  SELECT n.phone, n.state, n.brand_id, p.valid_until
  FROM proven AS p
  JOIN number_proof_member AS m ON m.proof_id = p.proof_id AND m.left_at IS NULL
  JOIN brand_number AS n ON n.brand_id = p.brand_id AND n.phone = m.phone
), recorded AS (
  INSERT INTO branding_event (brand_id, subject, phone, action, before, after, actor, reason)
  SELECT brand_id, 'number', phone, 'prove', state, state, $3, 'The code of a verification call was given back.' FROM members ORDER BY phone
)
SELECT max(valid_until) AS valid_until, count(*)::int AS numbers FROM members HAVING count(*) > 0;
