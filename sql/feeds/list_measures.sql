-- Purpose: the measures of the latest loads of the same feed and source.
-- Parameters: $1 feed, $2 source, $3 only loads before this id, $4 how many at most.
-- Rows: one a load, newest first.
SELECT measures FROM feed_load
WHERE feed = $1 AND source = $2 AND load_id < $3 AND state = 'done' AND measures IS NOT NULL
ORDER BY load_id DESC
LIMIT $4;
