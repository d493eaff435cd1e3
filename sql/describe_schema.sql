-- Purpose: every object of the schema with its definition, for sql/schema.sql.
-- Parameters: none.
-- Rows: kind, name and definition of an object, by kind and name.
WITH tables AS (
  SELECT c.oid, c.relname FROM pg_class AS c
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'r'
)
SELECT kind, name, definition FROM (
  SELECT 1 AS place, 'domain' AS kind, t.typname::text AS name,
    format('CREATE DOMAIN %I AS %s%s%s', t.typname, format_type(t.typbasetype, t.typtypmod),
      (SELECT format(' COLLATE %I', collname) FROM pg_collation WHERE oid = t.typcollation AND collname <> 'default'),
      coalesce((SELECT string_agg(E'\n  CONSTRAINT ' || k.conname || ' ' || pg_get_constraintdef(k.oid), '' ORDER BY k.conname)
        FROM pg_constraint AS k WHERE k.contypid = t.oid AND k.contype = 'c'), '')) AS definition
  FROM pg_type AS t WHERE t.typnamespace = 'public'::regnamespace AND t.typtype = 'd'
  UNION ALL
  SELECT 2, 'table', relname::text,
    format(E'CREATE TABLE %I (\n%s\n)', relname, (
      SELECT string_agg(format('  %I %s%s%s%s%s', a.attname, format_type(a.atttypid, a.atttypmod),
          (SELECT format(' COLLATE %I', collname) FROM pg_collation WHERE oid = a.attcollation AND collname <> 'default'
            AND NOT EXISTS (SELECT FROM pg_type WHERE pg_type.oid = a.atttypid AND typtype = 'd')),
          CASE WHEN a.attnotnull THEN ' NOT NULL' ELSE '' END,
          CASE WHEN a.attidentity = 'a' THEN ' GENERATED ALWAYS AS IDENTITY' ELSE '' END,
          coalesce(' DEFAULT ' || pg_get_expr(d.adbin, d.adrelid), '')), E',\n' ORDER BY a.attnum)
      FROM pg_attribute AS a LEFT JOIN pg_attrdef AS d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
      WHERE a.attrelid = tables.oid AND a.attnum > 0 AND NOT a.attisdropped))
  FROM tables
  UNION ALL
  SELECT 6, 'view', c.relname::text, format(E'CREATE VIEW %I AS\n%s', c.relname, rtrim(pg_get_viewdef(c.oid), ';'))
  FROM pg_class AS c WHERE c.relnamespace = 'public'::regnamespace AND c.relkind = 'v'
  UNION ALL
  SELECT 7, 'function', p.proname::text, rtrim(pg_get_functiondef(p.oid), E'\n')
  FROM pg_proc AS p WHERE p.pronamespace = 'public'::regnamespace
  UNION ALL
  SELECT 8, 'trigger', relname || '.' || g.tgname,
    pg_get_triggerdef(g.oid) || CASE g.tgenabled WHEN 'A' THEN format(E';\nALTER TABLE %I ENABLE ALWAYS TRIGGER %I', relname, g.tgname) ELSE '' END
  FROM tables JOIN pg_trigger AS g ON g.tgrelid = tables.oid AND NOT g.tgisinternal
  UNION ALL
  SELECT 4, 'constraint', relname || '.' || k.conname,
    format('ALTER TABLE %I ADD CONSTRAINT %I %s', relname, k.conname, pg_get_constraintdef(k.oid))
  FROM tables JOIN pg_constraint AS k ON k.conrelid = tables.oid AND k.contype <> 'n'
  UNION ALL
  SELECT 5, 'index', relname || '.' || i.indexrelid::regclass, pg_get_indexdef(i.indexrelid)
  FROM tables JOIN pg_index AS i ON i.indrelid = tables.oid
  WHERE NOT EXISTS (SELECT FROM pg_constraint AS k WHERE k.conindid = i.indexrelid AND k.contype IN ('p', 'u'))
  UNION ALL
  SELECT 9, 'grant', c.relname || '.' || g.privilege_type, format('GRANT %s ON %I TO caller_trust_reader', g.privilege_type, c.relname)
  FROM pg_class AS c, aclexplode(c.relacl) AS g
  WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'v') AND g.grantee = 'caller_trust_reader'::regrole
  UNION ALL
  SELECT 9, 'grant', tables.relname || '.' || g.privilege_type,
    format('GRANT %s (%s) ON %I TO caller_trust_reader', g.privilege_type, string_agg(quote_ident(a.attname), ', ' ORDER BY a.attnum), tables.relname)
  FROM tables JOIN pg_attribute AS a ON a.attrelid = tables.oid AND a.attacl IS NOT NULL, aclexplode(a.attacl) AS g
  WHERE g.grantee = 'caller_trust_reader'::regrole
  GROUP BY tables.relname, g.privilege_type
) AS objects
ORDER BY place, name COLLATE "C", definition COLLATE "C";
