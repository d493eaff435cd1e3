-- Purpose: makes the role of the intake if it is missing: a backup of a database has no roles. Where the owner may make no role,
--   only the intake does not start.
-- Parameters: none.
-- Rows: none.
DO $$
BEGIN
  IF to_regrole('caller_trust_submitter') IS NULL THEN
    BEGIN
      CREATE ROLE caller_trust_submitter NOLOGIN;
    EXCEPTION
      WHEN duplicate_object OR unique_violation THEN NULL; -- another database of the cluster is making it
      WHEN insufficient_privilege THEN
        RAISE NOTICE 'the owner of this database may not make the role caller_trust_submitter';
    END;
  END IF;
  IF current_setting('is_superuser') = 'off' AND to_regrole('caller_trust_submitter') IS NOT NULL THEN
    BEGIN
      EXECUTE format('GRANT caller_trust_submitter TO %I', current_user);
    EXCEPTION
      WHEN unique_violation THEN NULL; -- another database of the same owner was granting it
      WHEN insufficient_privilege THEN
        RAISE NOTICE 'the owner of this database may not grant itself caller_trust_submitter';
    END;
  END IF;
END
$$;
