-- Purpose: whether a person has a voiceprint.
-- Parameters: $1 owner, $2 subject.
-- Rows: its public id, or none.
SELECT public_id FROM voiceprint WHERE owner = $1 AND subject = $2 AND deleted_at IS NULL;
