-- Purpose: publishes the feed's word on numbers whose protection ended. A label from complaints comes with the next night.
-- Parameters: $1 value that the numbers are or begin with.
-- Rows: one: restored.
WITH restored AS (
  UPDATE phone_number SET reputation_level = feed_level, reputation_category = feed_category
  WHERE reputation_source = 'feed' AND reputation_level = 'NEUTRAL' AND feed_level <> 'NEUTRAL'
    AND starts_with(phone, $1) AND NOT is_protected_number(phone)
  RETURNING 1
)
SELECT count(*) AS restored FROM restored;
