-- Purpose: destroys the contacts of disputes that were decided before an instant, with their keys.
-- Parameters: $1 instant.
-- Rows: one: destroyed.
WITH destroyed AS (
  UPDATE number_dispute SET sealed_contact = NULL, wrapped_key = NULL, master_key_id = NULL, contact_digest = NULL
  WHERE decided_at < $1 AND sealed_contact IS NOT NULL
  RETURNING 1
)
SELECT count(*) AS destroyed FROM destroyed;
