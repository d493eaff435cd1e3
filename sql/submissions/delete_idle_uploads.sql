-- Purpose: removes uploads that nobody has used in time, and incomplete ones whose key has ended.
-- Parameters: $1 time since which bytes of an incomplete one must have arrived, $2 since which a complete one must have been used,
--   $3 now, $4 most rows.
-- Rows: the id of each.
DELETE FROM upload
WHERE upload_id IN (
  SELECT upload_id FROM upload
  WHERE
    CASE
      WHEN completed_at IS NOT NULL THEN active_at < $2
      ELSE active_at < $1 OR NOT EXISTS (
        SELECT FROM api_key
        WHERE api_key.key_id = upload.key_id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)
      )
    END
  ORDER BY active_at
  LIMIT $4
  FOR UPDATE SKIP LOCKED
)
RETURNING upload_id;
