-- Purpose: a brand of a client, with how many numbers and letters it has in each state, at one moment.
-- Parameters: $1 handle, $2 client.
-- Rows: none or one; none also for a brand of another client. Counts are JSON objects without the states that nothing is in.
SELECT b.handle, b.state, b.display_name, b.legal_name, b.dba, b.website, b.country, b.call_reasons, b.logo, b.relationship,
  b.approved_revision, b.pending_revision, b.pending_display_name, b.created_at, b.changed_at, b.approved_at,
  (SELECT json_object_agg(s.state, s.count) FROM (SELECT state, count(*) AS count FROM brand_number WHERE brand_id = b.brand_id GROUP BY state) AS s) AS number_states,
  (SELECT json_object_agg(s.state, s.count) FROM (SELECT state, count(*) AS count FROM letter WHERE brand_id = b.brand_id GROUP BY state) AS s) AS letter_states,
  (SELECT max(valid_until) FROM letter WHERE brand_id = b.brand_id AND state IN ('approved', 'expiring')) AS in_force_until,
  newest.letter_id AS newest_letter_id, newest.state AS newest_letter_state
FROM brand_overview AS b
LEFT JOIN LATERAL (SELECT letter_id, state FROM letter WHERE brand_id = b.brand_id ORDER BY letter_id DESC LIMIT 1) AS newest ON true
WHERE b.handle = $1 AND b.owner = $2;
