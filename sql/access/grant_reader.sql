-- Purpose: gives the role of the API what it reads, and takes away what it does not need. Each run of the migrations repeats it,
--   since a restored database lacks the privileges of roles that were missing.
-- Parameters: none.
-- Rows: none.
DO $$
DECLARE
  item record;
  routine regprocedure;
  writer name;
BEGIN
  GRANT USAGE ON SCHEMA public TO caller_trust_reader;
  -- Of phone numbers, clearings and loads only what answers show, not who did it or why.
  FOR item IN SELECT * FROM (VALUES
    ('schema_migration', NULL::text[]), ('service_secret', NULL), ('api_key', NULL),
    ('reputation_category', NULL), ('artefact_version', NULL), ('publication', NULL),
    ('brand_overview', NULL), ('letter', NULL), ('letter_finding', NULL), ('brand_number', NULL), ('letter_number', NULL), ('branded_number', NULL),
    ('recording', NULL), ('verification_batch', NULL), ('verification', NULL), ('verification_result', NULL), ('added_model', NULL), ('model_default', NULL),
    ('trust_state', NULL), ('trust_document', NULL),
    ('label_event', NULL), ('scoring_run', NULL), ('complaint_score', NULL), ('spam_range', NULL), ('protection_in_force', NULL),
    ('phone_number', ARRAY['phone', 'country', 'reputation_level', 'reputation_category', 'reputation_source', 'display_name', 'display_description',
      'display_detail', 'display_image', 'feed_level', 'feed_category', 'feed_load_id', 'cleared_at']),
    ('redress', ARRAY['phone', 'cleared_at']),
    ('feed_load', ARRAY['load_id', 'feed', 'source', 'state', 'requested_at', 'rows_accepted', 'rows_changed'])
  ) AS needed (relation, columns)
  LOOP
    IF item.columns IS NULL THEN
      IF NOT has_table_privilege('caller_trust_reader', item.relation, 'SELECT') THEN
        EXECUTE format('GRANT SELECT ON %I TO caller_trust_reader', item.relation);
      END IF;
    ELSIF EXISTS (SELECT FROM unnest(item.columns) AS c WHERE NOT has_column_privilege('caller_trust_reader', item.relation, c, 'SELECT')) THEN
      EXECUTE format('GRANT SELECT (%s) ON %I TO caller_trust_reader', (SELECT string_agg(quote_ident(c), ', ') FROM unnest(item.columns) AS c), item.relation);
    END IF;
  END LOOP;

  -- PostgreSQL gives every role temporary tables, large objects and advisory locks, and only a superuser can take the last two away.
  -- Roles that write keep them.
  IF has_database_privilege('caller_trust_reader', current_database(), 'TEMPORARY') THEN
    EXECUTE format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', current_database());
  END IF;
  IF current_setting('is_superuser') = 'on' THEN
    FOR routine IN
      SELECT oid FROM pg_proc
      WHERE pronamespace = 'pg_catalog'::regnamespace AND has_function_privilege('caller_trust_reader', oid, 'EXECUTE')
        AND (proname ~ '^pg_(try_)?advisory_' OR proname ~ '^lo_' OR proname IN ('loread', 'lowrite'))
    LOOP
      EXECUTE format('REVOKE EXECUTE ON FUNCTION %s FROM PUBLIC', routine);
    END LOOP;
  END IF;
  FOR writer IN
    SELECT rolname FROM pg_roles
    WHERE NOT rolsuper AND has_table_privilege(oid, 'night_run', 'INSERT')
  LOOP
    IF NOT has_database_privilege(writer, current_database(), 'TEMPORARY') THEN
      EXECUTE format('GRANT TEMPORARY ON DATABASE %I TO %I', current_database(), writer);
    END IF;
    IF current_setting('is_superuser') = 'on' THEN
      FOR routine IN
        SELECT oid FROM pg_proc
        WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^pg_(try_)?advisory_' AND NOT has_function_privilege(writer, oid, 'EXECUTE')
      LOOP
        EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO %I', routine, writer);
      END LOOP;
    END IF;
  END LOOP;
END
$$;
