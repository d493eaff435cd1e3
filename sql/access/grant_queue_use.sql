-- Purpose: lets the role of the intake use the queues in PostgreSQL, where there is that role.
-- Parameters: :'schema' of the queues, filled in as a literal: a DO block takes no parameters.
-- Rows: none.
DO $$
DECLARE
  queues name := :'schema';
BEGIN
  IF to_regrole('caller_trust_submitter') IS NULL THEN
    RETURN;
  END IF;
  EXECUTE format('GRANT USAGE ON SCHEMA %I TO caller_trust_submitter', queues);
  EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO caller_trust_submitter', queues);
  EXECUTE format('GRANT USAGE ON ALL SEQUENCES IN SCHEMA %I TO caller_trust_submitter', queues);
END
$$;
