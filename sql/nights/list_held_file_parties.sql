-- Purpose: who submitted the loads of held files: those that were merged since the published version of a file was last confirmed.
--   Branded files have none: each brand and letter in them was decided already.
-- Parameters: $1 cache or NULL for all, $2 country or NULL for all.
-- Rows: actor, part (file_load).
SELECT DISTINCT f.submitted_by AS actor, 'file_load' AS part
FROM publication AS p
JOIN feed_load AS f ON f.state = 'done' AND f.finished_at > coalesce(p.confirmed_as_of, '-infinity')
  AND (p.cache = 'phones' OR f.feed = 'complaints' OR (p.cache = 'spammer_phones' AND f.feed = 'reputation'))
WHERE p.status = 'stale' AND p.stale_code IN ('artefact_held', 'artefact_shrunk') AND p.cache <> 'branded_phones'
  AND ($1::text IS NULL OR p.cache = $1) AND ($2::text IS NULL OR p.country = $2);
