-- Purpose: the audio of a batch with the stored results of two models under the settings of the batch.
-- Parameters: $1 batch id, $2 and $3 the old model and the digest of its manifest, $4 and $5 those of the new one, $6 digest of audio after which
--   to begin, $7 how many at most.
-- Rows: one a recording by its digest: its first item, the number of its items, whether its audio is deleted, and the result of each model, if
--   stored.
WITH given AS (
  SELECT audio_sha256, min(line) AS line, (array_agg(source ORDER BY line))[1] AS source, count(*) AS items
  FROM verification
  WHERE batch_id = $1 AND audio_sha256 > $6
  GROUP BY audio_sha256
  ORDER BY audio_sha256
  LIMIT $7
)
SELECT g.audio_sha256, g.line, g.source, g.items, a.deleted_at IS NOT NULL AS deleted,
  o.result_id IS NOT NULL AS old, o.state AS "old.state", o.reason AS "old.reason", o.decision AS "old.decision",
  o.synthesis AS "old.scores.synthesis", o.replay AS "old.scores.replay",
  n.result_id IS NOT NULL AS new, n.state AS "new.state", n.reason AS "new.reason", n.decision AS "new.decision",
  n.synthesis AS "new.scores.synthesis", n.replay AS "new.scores.replay"
FROM given AS g
JOIN recording AS a ON a.sha256 = g.audio_sha256
JOIN verification_batch AS b ON b.batch_id = $1
LEFT JOIN verification_result AS o
  ON o.audio_sha256 = g.audio_sha256 AND o.model = $2 AND o.model_sha256 = $3 AND o.settings_sha256 = b.settings_sha256
LEFT JOIN verification_result AS n
  ON n.audio_sha256 = g.audio_sha256 AND n.model = $4 AND n.model_sha256 = $5 AND n.settings_sha256 = b.settings_sha256
ORDER BY g.audio_sha256;
