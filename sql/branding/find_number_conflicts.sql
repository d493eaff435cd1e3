-- Purpose: the states of numbers that a brand requests.
-- Parameters: $1 brand id, $2 phones.
-- Rows: one a phone that is known: its state with this brand or NULL, whether another brand has it live, whether it was
--   finally rejected with any brand.
SELECT phone,
  max(state) FILTER (WHERE brand_id = $1) AS own_state,
  bool_or(brand_id <> $1 AND state IN ('submitted', 'in_review', 'verified', 'suspended')) AS of_other_brand,
  bool_or(state = 'permanently_rejected') AS permanently_rejected
FROM brand_number
WHERE phone = ANY ($2)
GROUP BY phone;
