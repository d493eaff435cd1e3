-- Purpose: stores a sealed online key.
-- Parameters: $1 key id, $2 role, $3 sealed key, $4 wrapped key, $5 id of the master key.
-- Rows: none.
INSERT INTO trust_key (key_id, role, sealed_key, wrapped_key, master_key_id) VALUES ($1, $2, $3, $4, $5);
