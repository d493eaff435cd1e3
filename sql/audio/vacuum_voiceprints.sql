-- Purpose: lets PostgreSQL overwrite the versions of rows that nobody can see any more, those of deleted voiceprints among them.
-- Parameters: none.
-- Rows: none.
VACUUM (SKIP_LOCKED) voiceprint;
