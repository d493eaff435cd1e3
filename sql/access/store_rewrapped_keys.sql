-- Purpose: stores keys that were wrapped again, except of contents that were destroyed meanwhile.
-- Parameters: $1 id of the present master key; and arrays of the same length: $2 kinds, $3 ids of rows, $4 previous wrapped keys,
--   $5 wrapped keys, $6 digests of contacts.
-- Rows: none.
WITH given AS (
  SELECT * FROM unnest($2::text[], $3::bigint[], $4::bytea[], $5::bytea[], $6::bytea[]) AS g (kind, row_id, before, wrapped, contact_digest)
), documents AS (
  UPDATE document AS d SET wrapped_key = g.wrapped, master_key_id = $1
  FROM given AS g WHERE g.kind = 'document' AND d.document_id = g.row_id AND d.wrapped_key = g.before
), voiceprints AS (
  UPDATE voiceprint AS v SET wrapped_key = g.wrapped, master_key_id = $1
  FROM given AS g WHERE g.kind = 'voiceprint' AND v.voiceprint_id = g.row_id AND v.wrapped_key = g.before
), signing_keys AS (
  UPDATE trust_key AS t SET wrapped_key = g.wrapped, master_key_id = $1
  FROM given AS g WHERE g.kind = 'signing key' AND t.trust_key_id = g.row_id AND t.wrapped_key = g.before
), webhook_secrets AS (
  UPDATE webhook_secret AS w SET wrapped_key = g.wrapped, master_key_id = $1
  FROM given AS g WHERE g.kind = 'webhook secret' AND w.secret_id = g.row_id AND w.wrapped_key = g.before
)
UPDATE number_dispute AS n SET wrapped_key = g.wrapped, master_key_id = $1, contact_digest = g.contact_digest
FROM given AS g WHERE g.kind = 'contact' AND n.dispute_id = g.row_id AND n.wrapped_key = g.before;
