-- Purpose: what waits for a person or a worker, and since when.
-- Parameters: none.
-- Rows: one for each kind: kind, count, and seconds (age of the oldest; NULL without one). Kinds: letter, brand (as
--   sql/console/list_waiting_brands.sql lists them), dispute, held_load; batch; and loads queued_load, running_load, failed_load (in the
--   last seven days).
SELECT kind, count(since) AS count, extract(epoch FROM now() - min(since))::double precision AS seconds
FROM (
  SELECT 'letter' AS kind, submitted_at AS since FROM letter WHERE state IN ('submitted', 'in_review')
  UNION ALL
  SELECT 'brand', p.created_at
  FROM brand AS b JOIN brand_revision AS p ON p.brand_id = b.brand_id AND p.revision = b.pending_revision
  WHERE b.pending_revision IS NOT NULL AND (b.state IN ('submitted', 'in_review') OR (b.approved_revision IS NOT NULL AND b.state <> 'withdrawn'))
    AND NOT EXISTS (SELECT FROM letter AS l WHERE l.brand_id = b.brand_id AND l.revision = b.pending_revision AND l.state IN ('submitted', 'in_review'))
  UNION ALL
  SELECT 'dispute', filed_at FROM number_dispute WHERE state = 'open'
  UNION ALL
  SELECT state || '_load', requested_at FROM feed_load WHERE state IN ('queued', 'running')
  UNION ALL
  SELECT 'held_load', requested_at FROM feed_load WHERE state = 'held'
  UNION ALL
  SELECT 'failed_load', requested_at FROM feed_load WHERE state = 'failed' AND requested_at > now() - interval '7 days'
  UNION ALL
  SELECT 'batch', requested_at FROM verification_batch WHERE state IN ('queued', 'performing')
  UNION ALL
  SELECT unnest(ARRAY['letter', 'brand', 'dispute', 'held_load', 'queued_load', 'running_load', 'failed_load', 'batch']), NULL
) AS work
GROUP BY kind;
