-- Purpose: records the format of audio after it was opened, and its use.
-- Parameters: $1 digest, $2 format, $3 codec, $4 sample rate, $5 channels, $6 seconds.
-- Rows: none.
UPDATE recording SET last_used_at = now(), format = $2, codec = $3, sample_rate = $4, channels = $5, duration_seconds = $6 WHERE sha256 = $1;
