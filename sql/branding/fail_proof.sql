-- Purpose: ends an open proof that failed, with an event for each number that was to be called.
-- Parameters: $1 proof id, $2 code of the failure, $3 actor, $4 reason.
-- Rows: none.
WITH failed AS (
  UPDATE number_proof SET state = 'failed', failure_code = $2, ended_at = clock_timestamp() WHERE proof_id = $1 AND state = 'open'
  RETURNING proof_id, brand_id
)
INSERT INTO branding_event (brand_id, subject, phone, action, before, after, actor, reason)
SELECT f.brand_id, 'number', c.phone, 'prove_fail', n.state, n.state, $3, $4
FROM failed AS f
JOIN number_proof_call AS c USING (proof_id)
JOIN brand_number AS n ON n.brand_id = f.brand_id AND n.phone = c.phone
ORDER BY c.phone;
