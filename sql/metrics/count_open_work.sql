-- Purpose: what waits for a person or a worker, and since when.
-- Parameters: none.
-- Rows: one for each kind: kind, count, and seconds (age of the oldest; NULL without one). Kinds: letter, brand, dispute,
--   held_load; batch; and loads queued_load, running_load, failed_load (in the last seven days).
SELECT kind, count(since) AS count, extract(epoch FROM now() - min(since))::double precision AS seconds
FROM (
  SELECT 'letter' AS kind, submitted_at AS since FROM letter WHERE state IN ('submitted', 'in_review')
  UNION ALL
  SELECT 'brand', waiting_since FROM waiting_brand
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
