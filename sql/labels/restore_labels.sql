-- Purpose: publishes the feed's label of numbers whose protection ended. A label from complaints follows in the next night.
-- Parameters: $1 number or prefix.
-- Rows: one: restored.
WITH hidden AS MATERIALIZED (
  SELECT phone::text AS phone FROM phone_number
  WHERE reputation_source = 'feed' AND reputation_level = 'NEUTRAL' AND feed_level <> 'NEUTRAL' AND starts_with(phone, $1)
), restored AS (
  UPDATE phone_number SET reputation_level = feed_level, reputation_category = feed_category
  WHERE phone IN (SELECT phone FROM hidden EXCEPT SELECT protected_among(ARRAY(SELECT phone FROM hidden)))
  RETURNING 1
)
SELECT count(*) AS restored FROM restored;
