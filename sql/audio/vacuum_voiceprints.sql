-- Purpose: lets PostgreSQL overwrite dead rows, among them those of deleted voiceprints.
-- Parameters: none.
-- Rows: none.
VACUUM (SKIP_LOCKED) voiceprint;
