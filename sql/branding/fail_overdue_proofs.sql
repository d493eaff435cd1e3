-- Purpose: ends the overdue open proofs of a brand: a code has expired, or a called number has left the brand.
-- Parameters: $1 brand id, $2 actor.
-- Rows: none.
WITH overdue AS (
  SELECT p.proof_id, CASE WHEN gone.is_gone THEN 'number_left' ELSE 'code_expired' END AS why
  FROM number_proof AS p
  CROSS JOIN LATERAL (
    SELECT EXISTS (SELECT FROM number_proof_call AS c JOIN number_proof_member AS m USING (proof_id, phone) WHERE c.proof_id = p.proof_id AND m.left_at IS NOT NULL) AS is_gone) AS gone
  WHERE p.brand_id = $1 AND p.state = 'open'
    AND (gone.is_gone OR EXISTS (SELECT FROM number_proof_call AS c WHERE c.proof_id = p.proof_id AND c.confirmed_at IS NULL AND c.expires_at <= now()))
  FOR UPDATE OF p
), failed AS (
  UPDATE number_proof AS p SET state = 'failed', failure_code = o.why, ended_at = clock_timestamp()
  FROM overdue AS o WHERE p.proof_id = o.proof_id
  RETURNING p.proof_id, p.failure_code
)
INSERT INTO branding_event (brand_id, subject, phone, action, before, after, actor, reason)
SELECT $1, 'number', c.phone, 'prove_fail', n.state, n.state, $2, CASE f.failure_code WHEN 'number_left' THEN 'The number has left the brand.' ELSE 'The code has expired.' END
FROM failed AS f
JOIN number_proof_call AS c USING (proof_id)
JOIN brand_number AS n ON n.brand_id = $1 AND n.phone = c.phone
ORDER BY c.phone;
