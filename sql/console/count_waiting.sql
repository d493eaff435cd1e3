-- Purpose: how many letters, brands and disputes wait for a person.
-- Parameters: none
-- Rows: one with letters, brands and disputes.
SELECT (SELECT count(*) FROM letter WHERE state IN ('submitted', 'in_review')) AS letters,
  (SELECT count(*) FROM number_dispute WHERE state = 'open') AS disputes,
  (SELECT count(*) FROM waiting_brand) AS brands;
