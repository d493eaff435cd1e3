-- Purpose: how many feed loads are held, and how many loads and branding requests failed in the last seven days.
-- Parameters: none.
-- Rows: one.
SELECT (SELECT count(*) FROM feed_load WHERE state = 'held') AS loads_held,
  (SELECT count(*) FROM feed_load WHERE state = 'failed' AND requested_at > now() - interval '7 days') AS loads_failed,
  (SELECT count(*) FROM branding_operation WHERE state = 'failed' AND requested_at > now() - interval '7 days') AS operations_failed
