-- Purpose: the privileges to write that this connection's role has beyond those that its process needs, which then refuses to
--   start.
-- Parameters: $1 a schema that it may write to (NULL: none), $2 tables of `public` that it may write to.
-- Rows: one a privilege, at most 20.
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
    AND n.nspname NOT IN ('pg_catalog', 'information_schema')
    AND n.nspname IS DISTINCT FROM $1::text
    AND n.nspname !~ '^pg_(toast|temp)'
    AND NOT (n.nspname = 'public' AND c.relname = ANY ($2::text[]))
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
