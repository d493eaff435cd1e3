-- Purpose: does not count an interrupted attempt.
-- Parameters: $1 verification id, $2 generation of its batch.
-- Rows: none.
UPDATE verification AS v SET state = 'queued', attempts = v.attempts - 1
FROM verification_batch AS b
WHERE v.verification_id = $1 AND v.state = 'performing' AND v.attempts > 0 AND b.batch_id = v.batch_id AND b.generation = $2;
