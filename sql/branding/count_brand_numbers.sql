-- Purpose: how many numbers of a brand are in each state.
-- Parameters: $1 brand id, $2 phones or NULL for all.
-- Rows: state, count; one a state that occurs.
SELECT state, count(*) AS count
FROM brand_number
WHERE brand_id = $1 AND ($2::text[] IS NULL OR phone = ANY ($2))
GROUP BY state
ORDER BY state;
