-- Purpose: brands whose numbers have left the caches since the night before, because the letters that named them have ended.
-- Parameters: $1 run id.
-- Rows: brand handle, end of the letters' validity, numbers; none for a first night, or one that builds neither the branded
--   cache nor a profile cache.
WITH this AS (
  SELECT run_id, evaluated_at FROM night_run WHERE run_id = $1 AND coalesce(only_cache, 'branded_phones') IN ('branded_phones', 'phones')
), before AS (
  SELECT max(r.evaluated_at) AS evaluated_at
  FROM night_run AS r, this
  WHERE r.state = 'finished' AND r.outcome IN ('ok', 'partial') AND r.run_id < this.run_id
    AND coalesce(r.only_cache, 'branded_phones') = 'branded_phones' AND r.evaluated_at < this.evaluated_at
)
SELECT n.brand_handle, n.live_until, count(*) AS numbers
FROM branded_number AS n, this, before
WHERE n.live_until > before.evaluated_at AND n.live_until <= this.evaluated_at
GROUP BY n.brand_handle, n.live_until
ORDER BY n.brand_handle, n.live_until;
