-- Purpose: the state of webhook deliveries: what is pending and how old that is; what failed permanently within a
--   day; and endpoints that fail, or were disabled because they failed.
-- Parameters: none.
-- Rows: one.
SELECT
  (SELECT count(*) FROM webhook_delivery WHERE state = 'pending') AS pending,
  (SELECT coalesce(extract(epoch FROM clock_timestamp() - min(created_at)), 0)::float8 FROM webhook_delivery WHERE state = 'pending') AS oldest_pending_seconds,
  (SELECT count(*) FROM webhook_delivery WHERE state = 'failed' AND last_attempt_at > clock_timestamp() - interval '1 day') AS failed,
  (SELECT coalesce(array_agg(name ORDER BY name), '{}') FROM webhook_endpoint WHERE state = 'enabled' AND failing_since < clock_timestamp() - interval '1 hour') AS failing,
  (SELECT coalesce(array_agg(name ORDER BY name), '{}') FROM webhook_endpoint WHERE state = 'disabled' AND disabled_by = 'delivery') AS given_up,
  (SELECT count(*) FROM webhook_endpoint WHERE state = 'enabled') AS enabled;
