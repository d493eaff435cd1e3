-- Purpose: stores what was signed, and makes it the present set: all other documents but roots are superseded. Those that were
--   superseded before $5 are deleted: no client is still reading that set.
-- Parameters: arrays of the same length: $1 names, $2 digests, $3 kinds, $4 bodies; $5 time.
-- Rows: none.
WITH given AS (
  SELECT * FROM unnest($1::text[], $2::text[], $3::text[], $4::bytea[]) AS g (name, sha256, kind, body)
), old AS (
  DELETE FROM trust_document AS d
  WHERE d.superseded_at < $5 AND NOT EXISTS (SELECT FROM given AS g WHERE g.name = d.name AND g.sha256 = d.sha256)
), superseded AS (
  UPDATE trust_document AS d SET superseded_at = now()
  WHERE d.superseded_at IS NULL AND d.kind <> 'root'
    AND NOT EXISTS (SELECT FROM given AS g WHERE g.name = d.name AND g.sha256 = d.sha256)
), stored AS (
  INSERT INTO trust_document (name, sha256, kind, body) SELECT name, sha256, kind, body FROM given
  ON CONFLICT (name, sha256) DO UPDATE SET superseded_at = NULL
)
UPDATE trust_state SET revision = revision + 1;
