-- Purpose: removes the published labels of numbers that became protected. The feed's label is kept.
-- Parameters: $1 number or prefix.
-- Rows: one: withheld.
WITH withheld AS (
  UPDATE phone_number SET reputation_level = 'NEUTRAL', reputation_category = NULL
  WHERE phone IN (
    SELECT protected_among(ARRAY(SELECT phone::text FROM phone_number WHERE reputation_level <> 'NEUTRAL' AND starts_with(phone, $1))))
  RETURNING 1
)
SELECT count(*) AS withheld FROM withheld;
