-- Purpose: how many disputes of a number, and how many from a contact, are open.
-- Parameters: $1 phone in E.164, $2 digest of the contact or NULL.
-- Rows: one.
SELECT count(*) FILTER (WHERE phone = $1) AS of_number, count(*) FILTER (WHERE contact_digest = $2) AS of_contact
FROM number_dispute
WHERE state = 'open' AND (phone = $1 OR contact_digest = $2);
