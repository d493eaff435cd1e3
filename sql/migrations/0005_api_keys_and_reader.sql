-- Compatible with older workers: yes (new objects only).
-- Keys of the API, and the role with which the API reads.

CREATE TABLE api_key (
  key_id text COLLATE "C" PRIMARY KEY CHECK (key_id ~ '^[a-z0-9]{12}$'),
  client text NOT NULL CHECK (client ~ '\S'),
  -- HMAC-SHA-256 of the 32 random bytes under the service's secret; the key itself is not stored.
  key_hash bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32),
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0),
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX api_key_client ON api_key (client);

-- Roles belong to the whole cluster, so another database of it may have made this one already.
DO $$
BEGIN
  IF to_regrole('caller_trust_reader') IS NULL THEN
    CREATE ROLE caller_trust_reader NOLOGIN;
  END IF;
EXCEPTION WHEN duplicate_object OR unique_violation THEN
  NULL;
END
$$;
-- An API that is given the owner's login takes the role, which an owner that is no superuser may only as a member.
DO $$
BEGIN
  EXECUTE format('GRANT caller_trust_reader TO %I', current_user);
EXCEPTION WHEN insufficient_privilege THEN
  RAISE NOTICE 'the owner of this database may not grant itself caller_trust_reader';
END
$$;
GRANT USAGE ON SCHEMA public TO caller_trust_reader;
GRANT SELECT ON reputation_category, artefact_version, publication, api_key TO caller_trust_reader;
