-- Purpose: endpoints of webhooks with what is under way to them.
-- Parameters: $1 name or NULL for all.
-- Rows: one an endpoint, by name.
SELECT e.endpoint_id, e.name, e.url, b.handle AS brand, e.event_types, e.state, e.created_at, e.created_by, e.disabled_at, e.disabled_by, e.disabled_reason,
  e.failing_since, e.last_attempt_at, e.last_success_at, d.pending, d.failed, s.secrets
FROM webhook_endpoint AS e
LEFT JOIN brand AS b USING (brand_id)
CROSS JOIN LATERAL (
  SELECT (SELECT count(*) FROM webhook_delivery WHERE endpoint_id = e.endpoint_id AND state = 'pending') AS pending,
    (SELECT count(*) FROM webhook_delivery WHERE endpoint_id = e.endpoint_id AND state = 'failed') AS failed) AS d
CROSS JOIN LATERAL (
  SELECT coalesce(jsonb_agg(jsonb_build_object('createdAt', created_at, 'endsAt', ends_at) ORDER BY secret_id DESC), '[]') AS secrets
  FROM webhook_secret WHERE endpoint_id = e.endpoint_id AND (ends_at IS NULL OR ends_at > clock_timestamp())) AS s
WHERE $1::text IS NULL OR e.name = $1
ORDER BY e.name;
