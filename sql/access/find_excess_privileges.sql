-- Purpose: the privileges of this connection's role beyond those of the intake, with which it refuses to start.
-- Parameters: $1 schema of the queues.
-- Rows: one a privilege, at most 20; none for a role that only submits.
SELECT privilege
FROM (
  SELECT 'superuser' AS privilege
  FROM pg_roles
  WHERE rolsuper AND pg_has_role(current_user, oid, 'MEMBER')
  UNION ALL
  SELECT 'write ' || c.oid::regclass::text
  FROM pg_class AS c
  JOIN pg_namespace AS n ON n.oid = c.relnamespace
  WHERE c.relkind IN ('r', 'p', 'v', 'f', 'm')
    AND n.nspname NOT IN ('pg_catalog', 'information_schema', $1)
    AND n.nspname !~ '^pg_(toast|temp)'
    AND NOT (n.nspname = 'public' AND c.relname IN (
      'upload', 'intake_request', 'verification_batch', 'verification', 'recording', 'branding_operation', 'document', 'feed_load', 'number_dispute'))
    AND (
      has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
      OR has_any_column_privilege(c.oid, 'INSERT, UPDATE'))
  UNION ALL
  SELECT 'create in schema ' || nspname
  FROM pg_namespace
  WHERE nspname NOT IN ('pg_catalog', 'information_schema') AND nspname !~ '^pg_(toast|temp)'
    AND has_schema_privilege(oid, 'CREATE')
) AS privileges
LIMIT 20;
