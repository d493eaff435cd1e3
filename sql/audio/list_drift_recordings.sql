-- Purpose: the audio of a batch with what two models are stored to have said of it under the settings of the batch.
-- Parameters: $1 batch id, $2 and $3 the old model and the digest of its manifest, $4 and $5 those of the new one, $6 digest of audio after which
--   to begin, $7 how many at most.
-- Rows: one a recording by its digest: its first item, how many items it has, whether its audio is gone, and of each model the state (NULL: nothing is
--   stored), reason, label and scores.
WITH given AS (
  SELECT audio_sha256, min(line) AS line, (array_agg(source ORDER BY line))[1] AS source, count(*) AS items
  FROM verification
  WHERE batch_id = $1 AND audio_sha256 > $6
  GROUP BY audio_sha256
  ORDER BY audio_sha256
  LIMIT $7
)
SELECT g.audio_sha256, g.line, g.source, g.items, a.deleted_at IS NOT NULL AS deleted,
  o.state AS old_state, o.reason AS old_reason, o.decision ->> 'label' AS old_label, o.synthesis AS old_synthesis, o.replay AS old_replay,
  n.state AS new_state, n.reason AS new_reason, n.decision ->> 'label' AS new_label, n.synthesis AS new_synthesis, n.replay AS new_replay
FROM given AS g
JOIN recording AS a ON a.sha256 = g.audio_sha256
JOIN verification_batch AS b ON b.batch_id = $1
LEFT JOIN verification_result AS o
  ON o.audio_sha256 = g.audio_sha256 AND o.model = $2 AND o.model_sha256 = $3 AND o.settings_sha256 = b.settings_sha256
LEFT JOIN verification_result AS n
  ON n.audio_sha256 = g.audio_sha256 AND n.model = $4 AND n.model_sha256 = $5 AND n.settings_sha256 = b.settings_sha256
ORDER BY g.audio_sha256;
