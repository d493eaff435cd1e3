-- Purpose: stores a sealed secret of an endpoint.
-- Parameters: $1 endpoint id, $2 public id, $3 sealed secret, $4 wrapped key, $5 id of its master key.
-- Rows: none.
INSERT INTO webhook_secret (endpoint_id, public_id, sealed_secret, wrapped_key, master_key_id) VALUES ($1, $2, $3, $4, $5);
