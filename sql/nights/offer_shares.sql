-- Purpose: offers the shares of an attempt at a build to other workers, and removes those of earlier attempts.
-- Parameters: $1 build id, $2 attempt, $3 format, $4 ranges of each share, in their order (JSON texts).
-- Rows: none.
WITH earlier AS (
  DELETE FROM build_share WHERE build_id = $1 AND attempt < $2
)
INSERT INTO build_share (build_id, attempt, share, format, ranges)
SELECT $1, $2, e.nth - 1, $3, e.ranges::jsonb
FROM unnest($4::text[]) WITH ORDINALITY AS e (ranges, nth);
