-- Compatible with older workers: yes (new objects, which are empty until `caller-trust trust init`; a night that an older worker publishes after that is signed by the scheduler).
-- What is published is signed in the roles of TUF: the sealed online keys, and the signed documents as they are served.

-- One row: who signs locks it, and the API sees by the revision that there is something new.
CREATE TABLE trust_state (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  revision bigint NOT NULL DEFAULT 0
);
INSERT INTO trust_state DEFAULT VALUES;
COMMENT ON TABLE trust_state IS 'The lock of who signs, and a number that rises with each signature.';

CREATE TABLE trust_key (
  trust_key_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  key_id text COLLATE "C" NOT NULL UNIQUE CHECK (key_id ~ '^[0-9a-f]{64}$'),
  role text COLLATE "C" NOT NULL CHECK (role IN ('targets', 'snapshot', 'timestamp')),
  sealed_key bytea NOT NULL,
  wrapped_key bytea NOT NULL,
  master_key_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (role)
);
COMMENT ON TABLE trust_key IS 'The online keys that sign publications, sealed under the master key. Those of the root are in no database.';

CREATE TABLE trust_document (
  name text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('root', 'targets', 'snapshot', 'timestamp', 'manifest')),
  body bytea NOT NULL,
  signed_at timestamptz NOT NULL DEFAULT now(),
  -- Null: part of the present set.
  superseded_at timestamptz,
  PRIMARY KEY (name, sha256)
);
CREATE INDEX trust_document_superseded ON trust_document (superseded_at) WHERE superseded_at IS NOT NULL;
COMMENT ON TABLE trust_document IS 'Signed metadata, and the manifests that it names, byte for byte as they are served.';

GRANT SELECT ON trust_state, trust_document TO caller_trust_reader;
