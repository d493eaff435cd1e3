-- Purpose: an operator's decision on a held load: release queues it again, despite its gates; discard ends it.
-- Parameters: $1 load id, $2 release or discard, $3 who decides, $4 reason.
-- Rows: one, or none if the load is not held.
UPDATE feed_load SET
  state = CASE $2::text WHEN 'release' THEN 'queued' ELSE 'discarded' END,
  decision = $2, decided_by = $3, decided_reason = $4, decided_at = clock_timestamp()
WHERE load_id = $1 AND state = 'held'
RETURNING load_id;
