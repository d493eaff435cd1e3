-- Purpose: the users of the console who may decide on what others submit.
-- Parameters: none.
-- Rows: one a user (name).
SELECT name FROM console_user WHERE role IN ('reviewer', 'operator');
