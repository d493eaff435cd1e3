-- Purpose: sets the default model of a family from now on.
-- Parameters: $1 family, $2 model, $3 by whom, $4 why, $5 drift report or NULL, $6 whether it was set without one.
-- Rows: one: when.
INSERT INTO model_default (family, model, set_by, reason, report_id, forced)
VALUES ($1, $2, $3, $4, $5, $6)
RETURNING since;
