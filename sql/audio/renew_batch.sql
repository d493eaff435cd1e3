-- Purpose: raises the generation of a batch whose jobs are gone, so that those that still come do nothing.
-- Parameters: $1 batch id, $2 its generation.
-- Rows: one with the new generation, or none if the batch has ended or somebody else was faster.
UPDATE verification_batch SET generation = generation + 1 WHERE batch_id = $1 AND generation = $2 AND state IN ('queued', 'performing') RETURNING generation;
