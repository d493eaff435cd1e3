-- Purpose: a person decides a revision whose letters were decided when the brand had another DBA.
-- Parameters: $1 brand id, $2 revision that the letters have gone over to.
-- Rows: none.
UPDATE brand_revision AS r SET needs_decision = true
WHERE r.brand_id = $1 AND r.revision = $2
  AND EXISTS (SELECT FROM letter AS l WHERE l.brand_id = $1 AND l.revision = $2)
  AND EXISTS (SELECT FROM brand_revision AS o WHERE o.brand_id = $1 AND o.revision < $2 AND o.profile ->> 'dba' IS DISTINCT FROM r.profile ->> 'dba');
