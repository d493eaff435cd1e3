-- Purpose: the last finished night of each day that was to build everything, with what it had: for the trends of the console.
-- Parameters: $1 first day, $2 last day.
-- Rows: one a day that has such a night, oldest first: day, run_id, seconds from its opening (NULL: it never opened), rows and bytes
--   of all files, spam and fraud (labels of the spammer cache; NULL where the night did not count it).
SELECT DISTINCT ON (r.night_date) r.night_date AS day, r.run_id,
  extract(epoch FROM r.finished_at - r.opened_at)::double precision AS seconds, b.rows, b.bytes, b.spam, b.fraud
FROM night_run AS r
CROSS JOIN LATERAL (
  SELECT sum(coalesce(rows, rows_expected))::bigint AS rows, sum((facts #>> '{file,bytes}')::bigint)::bigint AS bytes,
    max((facts #>> '{levels,SPAM}')::bigint) FILTER (WHERE cache = 'spammer_phones') AS spam,
    max((facts #>> '{levels,FRAUD}')::bigint) FILTER (WHERE cache = 'spammer_phones') AS fraud
  FROM build
  WHERE run_id = r.run_id AND generation = r.generation
) AS b
WHERE r.night_date BETWEEN $1::date AND $2::date AND r.state = 'finished' AND r.only_cache IS NULL
ORDER BY r.night_date, r.run_id DESC
