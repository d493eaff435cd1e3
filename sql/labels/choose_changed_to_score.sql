-- Purpose: chooses the numbers whose label the rule may change since the last scoring: those that have one, and those with complaints
--   that it did not see, or that were reported after its instant.
-- Parameters: $1 transactions that the last scoring saw (pg_snapshot as text), $2 its instant.
-- Rows: none; in the order of the phones, so that they are looked up in the order of the indexes.
INSERT INTO complaint_candidate
SELECT phone FROM complaint_score WHERE level <> 'NEUTRAL'
UNION
SELECT phone FROM complaint
WHERE load_id = ANY (ARRAY(SELECT load_id FROM feed_load WHERE NOT pg_visible_in_snapshot(merged_by, $1::text::pg_snapshot)))
UNION
SELECT phone FROM complaint
WHERE load_id = ANY (ARRAY(SELECT load_id FROM complaint_day WHERE day >= ($2::timestamptz AT TIME ZONE 'UTC')::date)) AND reported_at > $2::timestamptz
ORDER BY phone;
