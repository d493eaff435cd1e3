-- Purpose: whether a brand is live on a number of a range.
-- Parameters: $1 instant, $2 first phone or its beginning, $3 what follows the last.
-- Rows: one: is_live.
SELECT EXISTS (
  SELECT FROM branded_number
  WHERE live_from <= $1::timestamptz AND (live_until IS NULL OR live_until > $1::timestamptz) AND phone >= $2 AND phone < $3
) AS is_live;
