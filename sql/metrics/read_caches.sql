-- Purpose: the published files of each cache together.
-- Parameters: none.
-- Rows: one a cache that has files: cache, age_seconds (of the oldest snapshot that confirms one), fresh, stale (files), rows, bytes, and
--   spam and fraud (labels; NULL where they are not counted).
SELECT p.cache, extract(epoch FROM now() - min(p.confirmed_as_of))::double precision AS age_seconds,
  count(*) FILTER (WHERE p.status <> 'stale') AS fresh, count(*) FILTER (WHERE p.status = 'stale') AS stale,
  sum((v.facts ->> 'rows')::bigint)::bigint AS rows, sum((v.facts #>> '{file,bytes}')::bigint)::bigint AS bytes,
  sum((v.facts #>> '{levels,SPAM}')::bigint)::bigint AS spam, sum((v.facts #>> '{levels,FRAUD}')::bigint)::bigint AS fraud
FROM publication AS p JOIN artefact_version AS v USING (cache, country, version)
GROUP BY p.cache;
