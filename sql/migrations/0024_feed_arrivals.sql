-- Compatible with older workers: yes (a privilege of the reader only).
-- The API says which feeds have stopped coming: when the last load of each was, and nothing else of loads.

GRANT SELECT (load_id, feed, source, state, requested_at, rows_accepted, rows_changed) ON feed_load TO caller_trust_reader;
