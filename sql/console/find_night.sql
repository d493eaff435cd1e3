-- Purpose: what was asked of a night, and the instants that it was made of
-- Parameters: $1 run id
-- Rows: one or none: only_cache, only_country, accept_shrink, full_build, as_of, evaluated_at
SELECT only_cache, only_country, accept_shrink, full_build, as_of, evaluated_at FROM night_run WHERE run_id = $1
