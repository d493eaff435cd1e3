-- Purpose: the sealed bytes of a voiceprint.
-- Parameters: $1 public id.
-- Rows: one with the sealed bytes and the wrapped key, both NULL once it is deleted, or none.
SELECT voiceprint_id, model, model_sha256, sealed_embedding, wrapped_key, master_key_id FROM voiceprint WHERE public_id = $1;
