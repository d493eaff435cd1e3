-- Purpose: numbers of a brand, ascending, with what is proven of each and what is under way.
-- Parameters: $1 brand id, $2 phones or NULL for all, $3 phone after which to begin or '', $4 how many at most.
-- Rows: phone, state, end of the proof that counts or NULL; of the open proof or NULL: its id, id of the number's own call or NULL (others of
--   the block are called), placed at, expires at, tries, confirmed at; whether it was drawn in a block that was not proven in the last
--   30 days, with any brand; calls in the last 24 hours, by any brand.
-- The proofs of each number are looked up by the number (OFFSET 0): from the brand's side all of its proofs were read for each number.
SELECT n.phone, n.state,
  (SELECT max(p.valid_until)
   FROM (SELECT proof_id FROM number_proof_member WHERE phone = n.phone AND left_at IS NULL OFFSET 0) AS m
   CROSS JOIN LATERAL (SELECT * FROM number_proof WHERE proof_id = m.proof_id OFFSET 0) AS p
   WHERE p.brand_id = n.brand_id AND p.state = 'proven' AND p.valid_until > now()) AS proven_until,
  pending.proof_id, pending.call_id, pending.placed_at, pending.expires_at, pending.tries, pending.confirmed_at,
  EXISTS (
    SELECT
    FROM (SELECT proof_id, phone FROM number_proof_member WHERE phone = n.phone OFFSET 0) AS m
    CROSS JOIN LATERAL (SELECT * FROM number_proof WHERE proof_id = m.proof_id OFFSET 0) AS p
    WHERE (p.state = 'open' OR p.failure_code IN ('code_wrong', 'code_expired', 'number_left')) AND p.requested_at > now() - interval '30 days'
      AND EXISTS (SELECT FROM number_proof_member AS o WHERE o.proof_id = m.proof_id AND o.phone <> m.phone)) AS drawn_before,
  (SELECT count(*)::int
   FROM (SELECT * FROM number_proof_call WHERE phone = n.phone AND requested_at > now() - interval '24 hours' OFFSET 0) AS c
   CROSS JOIN LATERAL (SELECT state FROM number_proof WHERE proof_id = c.proof_id OFFSET 0) AS p
   WHERE c.code_hash IS NOT NULL OR p.state = 'open') AS calls_of_day
FROM brand_number AS n
LEFT JOIN LATERAL (
  SELECT p.proof_id, c.call_id, c.placed_at, c.expires_at, c.tries, c.confirmed_at
  FROM (SELECT proof_id, phone FROM number_proof_member WHERE phone = n.phone AND left_at IS NULL OFFSET 0) AS m
  CROSS JOIN LATERAL (SELECT * FROM number_proof WHERE proof_id = m.proof_id OFFSET 0) AS p
  LEFT JOIN number_proof_call AS c ON c.proof_id = p.proof_id AND c.phone = m.phone
  WHERE p.brand_id = n.brand_id AND p.state = 'open'
    AND NOT EXISTS (SELECT FROM number_proof_call AS e WHERE e.proof_id = p.proof_id AND e.confirmed_at IS NULL AND e.expires_at <= now())
  ORDER BY p.proof_id DESC
  LIMIT 1) AS pending ON true
WHERE n.brand_id = $1 AND ($2::text[] IS NULL OR n.phone = ANY ($2)) AND n.phone > $3
ORDER BY n.phone
LIMIT $4;
