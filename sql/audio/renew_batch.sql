-- Purpose: raises the generation of a batch whose jobs are lost, so that late ones have no effect.
-- Parameters: $1 batch id, $2 its generation.
-- Rows: one with the new generation and the number of its items, or none if the batch has ended or another process was faster.
UPDATE verification_batch SET generation = generation + 1 WHERE batch_id = $1 AND generation = $2 AND state IN ('queued', 'performing') RETURNING generation, items;
