-- Purpose: how many of some numbers of a brand are in each state.
-- Parameters: $1 brand id, $2 phones.
-- Rows: state, count.
SELECT state, count(*) AS count FROM brand_number WHERE brand_id = $1 AND phone = ANY ($2) GROUP BY state ORDER BY state;
