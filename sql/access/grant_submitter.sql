-- Purpose: gives the role of the intake what it needs to submit work. Each run of the migrations repeats it, since a restored database
--   lacks the privileges of roles that were missing.
-- Parameters: none.
-- Rows: none.
DO $$
DECLARE
  item record;
  routine regprocedure;
BEGIN
  IF to_regrole('caller_trust_submitter') IS NULL THEN
    RETURN;
  END IF;
  GRANT USAGE ON SCHEMA public TO caller_trust_submitter;
  FOR item IN SELECT * FROM (VALUES
    ('schema_migration', 'SELECT'), ('service_secret', 'SELECT'), ('api_key', 'SELECT'),
    ('upload', 'SELECT, INSERT, UPDATE, DELETE'), ('intake_request', 'SELECT, INSERT'),
    ('verification_batch', 'SELECT, INSERT, UPDATE'), ('verification', 'SELECT, INSERT, UPDATE'), ('recording', 'SELECT, INSERT, UPDATE'),
    ('added_model', 'SELECT'), ('model_default', 'SELECT'),
    ('branding_operation', 'SELECT, INSERT'), ('document', 'INSERT, SELECT (document_id)'),
    ('brand', 'SELECT'), ('brand_revision', 'SELECT'), ('brand_number', 'SELECT (brand_id, phone, ended_at)'),
    ('issued_form', 'SELECT, INSERT, UPDATE'), ('letter', 'SELECT (letter_id, form_id)'),
    ('feed_load', 'SELECT, INSERT'),
    ('number_dispute', 'SELECT, INSERT'),
    ('phone_number', 'SELECT (phone, reputation_level, reputation_category, reputation_source)')
  ) AS needed (relation, privileges)
  LOOP
    EXECUTE format('GRANT %s ON %I TO caller_trust_submitter', item.privileges, item.relation);
  END LOOP;
  -- Submissions take advisory locks, which migrations by a superuser take from those who only read.
  IF current_setting('is_superuser') = 'on' THEN
    FOR routine IN
      SELECT oid FROM pg_proc
      WHERE pronamespace = 'pg_catalog'::regnamespace AND proname ~ '^pg_(try_)?advisory_'
        AND NOT has_function_privilege('caller_trust_submitter', oid, 'EXECUTE')
    LOOP
      EXECUTE format('GRANT EXECUTE ON FUNCTION %s TO caller_trust_submitter', routine);
    END LOOP;
  END IF;
END
$$;
