-- Purpose: how many numbers of a brand are in each state.
-- Parameters: $1 brand id.
-- Rows: one a state that a number is in.
SELECT state, count(*) AS count
FROM brand_number
WHERE brand_id = $1
GROUP BY state;
