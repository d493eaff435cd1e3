-- Purpose: publishes the feed's label of numbers whose protection ended. A label from complaints follows in the next night.
-- Parameters: $1 number or prefix.
-- Rows: one: restored.
WITH restored AS (
  UPDATE phone_number SET reputation_level = feed_level, reputation_category = feed_category
  WHERE reputation_source = 'feed' AND reputation_level = 'NEUTRAL' AND feed_level <> 'NEUTRAL'
    AND starts_with(phone, $1) AND NOT is_protected_number(phone)
  RETURNING 1
)
SELECT count(*) AS restored FROM restored;
