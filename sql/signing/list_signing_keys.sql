-- Purpose: the sealed online keys.
-- Parameters: none.
-- Rows: one a role.
SELECT key_id, role, sealed_key, wrapped_key, master_key_id, created_at FROM trust_key ORDER BY role;
