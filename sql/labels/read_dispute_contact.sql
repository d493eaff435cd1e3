-- Purpose: the sealed contact of a dispute.
-- Parameters: $1 dispute id.
-- Rows: one, or none if there is no contact, or it is destroyed.
SELECT sealed_contact, wrapped_key, master_key_id FROM number_dispute WHERE dispute_id = $1 AND sealed_contact IS NOT NULL;
