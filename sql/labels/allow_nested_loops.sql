-- Purpose: allows or forbids nested loops to the plans of a transaction where another join is possible. A statement that joins sets that
--   it computes itself has only estimates of them, which are wrong after a large load until its table is analysed again: a loop over
--   100,000 complaints took 19 s instead of 1.5.
-- Parameters: $1 on or off.
-- Rows: one, without use.
SELECT set_config('enable_nestloop', $1, true);
