-- Purpose: from now on the server itself ends statements of this connection that take too long, also when nobody waits for them any more.
-- Parameters: $1 milliseconds (text).
-- Rows: one, without meaning.
SELECT set_config('statement_timeout', $1, false);
