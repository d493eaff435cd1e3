-- Purpose: releases held files: for each file that is held now, the last held build.
-- Parameters: $1 cache or NULL for all, $2 country or NULL for all, $3 reason, $4 who releases.
-- Rows: cache, country and gates of each file that was released.
WITH held AS (
  SELECT DISTINCT ON (b.cache, b.country) b.cache, b.country, b.build_id, b.gates
  FROM publication AS p
  JOIN build AS b USING (cache, country)
  WHERE p.status = 'stale' AND p.stale_code IN ('artefact_held', 'artefact_shrunk')
    AND b.state = 'failed' AND b.failure_code IN ('artefact_held', 'artefact_shrunk')
    AND ($1::text IS NULL OR p.cache = $1) AND ($2::text IS NULL OR p.country = $2)
  ORDER BY b.cache, b.country, b.build_id DESC
), released AS (
  INSERT INTO night_release (cache, country, build_id, reason, released_by)
  SELECT cache, country, build_id, $3, $4 FROM held
  RETURNING build_id
)
SELECT held.cache, held.country, held.gates FROM held JOIN released USING (build_id) ORDER BY 1, 2;
