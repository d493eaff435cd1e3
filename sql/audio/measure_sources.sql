-- Purpose: the widths of the columns of a batch's table.
-- Parameters: $1 batch id.
-- Rows: one.
SELECT coalesce(max(char_length(source)), 0) AS source, coalesce(max(char_length(coalesce(model, requested_model))), 0) AS model FROM verification WHERE batch_id = $1;
