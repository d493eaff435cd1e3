-- Purpose: a fingerprint of the history of nights: while it is the same and no night is open, an earlier reading is still valid
-- Parameters: $1 a day
-- Rows: one: newest (run id, or null), finished (how many), open (how many), older_day (the latest day with a night before that day, or null)
SELECT max(run_id) AS newest, count(*) FILTER (WHERE state = 'finished') AS finished, count(*) FILTER (WHERE state <> 'finished') AS open,
  max(night_date) FILTER (WHERE night_date < $1::date) AS older_day
FROM night_run
