-- Purpose: makes the role of the API if it is missing: a backup of a database has no roles.
-- Parameters: none.
-- Rows: none.
DO $$
BEGIN
  -- Roles belong to the whole cluster, so another database of it may just be making this one.
  IF to_regrole('caller_trust_reader') IS NULL THEN
    BEGIN
      CREATE ROLE caller_trust_reader NOLOGIN;
    EXCEPTION WHEN duplicate_object OR unique_violation THEN
      NULL;
    END;
  END IF;
  -- An API that is given the owner's login takes the role, which an owner that is no superuser may only as a member. Since
  -- PostgreSQL 16 who makes a role administers it without that.
  IF current_setting('is_superuser') = 'off' THEN
    BEGIN
      EXECUTE format('GRANT caller_trust_reader TO %I', current_user);
    EXCEPTION
      WHEN unique_violation THEN NULL; -- another database of the same owner was granting it
      WHEN insufficient_privilege THEN
        RAISE NOTICE 'the owner of this database may not grant itself caller_trust_reader';
    END;
  END IF;
END
$$;
