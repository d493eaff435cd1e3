-- Purpose: publishes a cleared number as NEUTRAL. The feed's last label is kept: it is what was cleared.
-- Parameters: $1 phone, $2 cleared at.
-- Rows: none.
UPDATE phone_number SET reputation_level = 'NEUTRAL', reputation_category = NULL, reputation_source = 'redress', cleared_at = $2
WHERE phone = $1;
