-- Purpose: files a dispute of the label that a number has now.
-- Parameters: $1 phone in E.164, $2 reason, $3 who files it, $4 idempotency key, $5 SHA-256 of the request, $6 sealed contact, $7 its
--   wrapped key, $8 id of the master key, $9 digest of the contact; $6 to $9 NULL without a contact.
-- Rows: dispute_id; none for a number without a label.
INSERT INTO number_dispute (phone, reason, filed_by, idempotency_key, request_sha256, sealed_contact, wrapped_key, master_key_id, contact_digest, level, category, source)
SELECT $1::text, $2::text, $3::text, $4::text, $5::text, $6::bytea, $7::bytea, $8::text, $9::bytea, reputation_level, reputation_category, reputation_source
FROM phone_number
WHERE phone = $1::text AND reputation_level <> 'NEUTRAL'
RETURNING dispute_id;
