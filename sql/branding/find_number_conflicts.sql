-- Purpose: the states of numbers that a brand requests.
-- Parameters: $1 brand id, $2 phones.
-- Rows: one a phone that is known: its state with this brand or NULL, whether another brand has it live, whether another one that waits
--   for a person claims it with a letter, whether it was permanently rejected with any brand.
SELECT phone,
  max(state) FILTER (WHERE brand_id = $1) AS own_state,
  bool_or(brand_id <> $1 AND state IN ('verified', 'suspended')) AS of_other_brand,
  bool_or(brand_id <> $1 AND state = 'in_review') AS claimed_by_other_brand,
  bool_or(state = 'permanently_rejected') AS permanently_rejected
FROM brand_number
WHERE phone = ANY ($2)
GROUP BY phone;
