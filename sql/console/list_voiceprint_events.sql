-- Purpose: the newest events of a voiceprint, and how many there are.
-- Parameters: $1 public id, $2 how many comparisons at most, $3 how many other events at most.
-- Rows: events, newest first, each with the count of all events of the voiceprint.
WITH of AS (SELECT voiceprint_id FROM voiceprint WHERE public_id = $1)
SELECT e.event_id, e.at, e.action, e.actor, e.reason, (SELECT count(*) FROM voiceprint_event AS a JOIN of USING (voiceprint_id))::int AS events
FROM of CROSS JOIN LATERAL (
  (SELECT c.event_id, c.at, c.action, c.actor, c.reason FROM voiceprint_event AS c WHERE c.voiceprint_id = of.voiceprint_id AND c.action = 'verified' ORDER BY c.event_id DESC LIMIT $2)
  UNION ALL
  (SELECT o.event_id, o.at, o.action, o.actor, o.reason FROM voiceprint_event AS o WHERE o.voiceprint_id = of.voiceprint_id AND o.action <> 'verified' ORDER BY o.event_id DESC LIMIT $3)
) AS e
ORDER BY e.event_id DESC;
