-- Purpose: how many letters, brands and disputes wait for a person.
-- Parameters: none
-- Rows: one with letters, brands and disputes; brands as sql/console/list_waiting_brands.sql lists them.
SELECT (SELECT count(*) FROM letter WHERE state IN ('submitted', 'in_review')) AS letters,
  (SELECT count(*) FROM number_dispute WHERE state = 'open') AS disputes,
  (SELECT count(*)
   FROM brand AS b
   WHERE b.pending_revision IS NOT NULL AND (b.state IN ('submitted', 'in_review') OR (b.approved_revision IS NOT NULL AND b.state <> 'withdrawn'))
     AND NOT EXISTS (SELECT FROM letter AS l WHERE l.brand_id = b.brand_id AND l.revision = b.pending_revision AND l.state IN ('submitted', 'in_review'))) AS brands;
