-- Purpose: inserts a number with complaints only, as NEUTRAL, so that it can be cleared.
-- Parameters: $1 phone in E.164.
-- Rows: none. Has no effect on a number that exists or has no complaints.
INSERT INTO phone_number (phone, country)
SELECT phone, country FROM complaint WHERE phone = $1 ORDER BY complaint_id LIMIT 1
ON CONFLICT (phone) DO NOTHING;
