-- Purpose: how many letters of a brand are in each state, and which one is newest.
-- Parameters: $1 brand id.
-- Rows: one a state that a letter is in; newest_letter_id is that of the state, in_force_until NULL but for letters in force.
SELECT state, count(*) AS count, max(letter_id) AS newest_letter_id,
  max(valid_until) FILTER (WHERE state IN ('approved', 'expiring')) AS in_force_until
FROM letter
WHERE brand_id = $1
GROUP BY state;
