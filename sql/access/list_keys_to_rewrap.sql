-- Purpose: keys of sealed contents that another master key wraps.
-- Parameters: $1 id of the present master key, $2 limit.
-- Rows: kind, id of the row, what its key is bound to, wrapped key, id of its master key; of a dispute the sealed contact too.
SELECT 'document' AS kind, document_id AS row_id, sha256 AS bound_to, wrapped_key AS wrapped, master_key_id, NULL::bytea AS sealed_contact
FROM document WHERE wrapped_key IS NOT NULL AND master_key_id <> $1
UNION ALL
SELECT 'voiceprint', voiceprint_id, public_id::text, wrapped_key, master_key_id, NULL
FROM voiceprint WHERE wrapped_key IS NOT NULL AND master_key_id <> $1
UNION ALL
SELECT 'contact', dispute_id, dispute_id::text, wrapped_key, master_key_id, sealed_contact
FROM number_dispute WHERE wrapped_key IS NOT NULL AND master_key_id <> $1
UNION ALL
SELECT 'signing key', trust_key_id, key_id, wrapped_key, master_key_id, NULL
FROM trust_key WHERE master_key_id <> $1
UNION ALL
SELECT 'webhook secret', secret_id, public_id::text, wrapped_key, master_key_id, NULL
FROM webhook_secret WHERE master_key_id <> $1
LIMIT $2;
