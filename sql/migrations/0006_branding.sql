-- Compatible with older workers: yes (new objects only).
-- Managed brands, letters of authorization, numbers for branding, and the trail of what was done to them.

-- Files that were submitted. Their bytes and what was read from them are sealed under a key of their own.
CREATE TABLE document (
  document_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('letter', 'numbers')),
  sha256 text COLLATE "C" NOT NULL CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bigint NOT NULL CHECK (bytes >= 0),
  stored_at timestamptz NOT NULL DEFAULT now(),
  sealed_content bytea,
  sealed_reading bytea,
  -- The document's key, wrapped by the master key of this id. Without it nothing of the document can be read again.
  wrapped_key bytea,
  master_key_id text COLLATE "C" NOT NULL,
  destroyed_at timestamptz,
  destroyed_why text,
  CONSTRAINT document_destroyed CHECK (
    CASE WHEN destroyed_at IS NULL THEN wrapped_key IS NOT NULL AND sealed_content IS NOT NULL
         ELSE wrapped_key IS NULL AND sealed_content IS NULL AND sealed_reading IS NULL AND destroyed_why ~ '\S' END)
);
CREATE INDEX document_sha256 ON document (sha256);
ALTER TABLE document ALTER COLUMN sealed_content SET STORAGE EXTERNAL, ALTER COLUMN sealed_reading SET STORAGE EXTERNAL;

-- One row a request. The same key of the same owner gives the same answer, and nothing happens twice.
CREATE TABLE branding_operation (
  operation_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  owner clean_text NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL CHECK (idempotency_key ~ '^[!-~]{1,128}$'),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('add_managed_brand', 'update_managed_brand', 'add_phone_number')),
  request jsonb NOT NULL,
  -- Of the request with the digests of its files: another request under the same key is refused.
  request_sha256 text COLLATE "C" NOT NULL CHECK (request_sha256 ~ '^[0-9a-f]{64}$'),
  letter_document_id bigint REFERENCES document,
  numbers_document_id bigint REFERENCES document,
  requested_by text NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  state text COLLATE "C" NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'done', 'failed')),
  finished_at timestamptz,
  result jsonb,
  failure_code text,
  failure_reason text,
  UNIQUE (owner, idempotency_key),
  CONSTRAINT branding_operation_ended CHECK (
    (state = 'queued') = (finished_at IS NULL) AND (state = 'done') = (result IS NOT NULL) AND (state = 'failed') = (failure_code IS NOT NULL))
);
CREATE INDEX branding_operation_letter ON branding_operation (letter_document_id);
CREATE INDEX branding_operation_numbers ON branding_operation (numbers_document_id);
CREATE INDEX branding_operation_requested_by ON branding_operation (requested_by);
CREATE INDEX branding_operation_due ON branding_operation (operation_id) WHERE state = 'queued';

-- What became of each row of a request's numbers.
CREATE TABLE branding_operation_row (
  operation_id bigint NOT NULL REFERENCES branding_operation ON DELETE CASCADE,
  line integer NOT NULL CHECK (line > 0),
  phone e164,
  outcome text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  PRIMARY KEY (operation_id, line)
);
CREATE INDEX branding_operation_row_phone ON branding_operation_row (operation_id, phone);

CREATE TABLE brand (
  brand_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  handle text COLLATE "C" NOT NULL UNIQUE CHECK (handle ~ '^[a-z0-9](-?[a-z0-9]){1,62}$'),
  -- The client, as API keys name it, that sees this brand.
  owner clean_text NOT NULL,
  state text COLLATE "C" NOT NULL CHECK (state IN ('draft', 'submitted', 'in_review', 'approved', 'rejected', 'suspended', 'expired', 'withdrawn')),
  -- The revision that is published while the brand is approved, and the one that waits for a decision.
  approved_revision integer,
  pending_revision integer,
  last_revision integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  changed_at timestamptz NOT NULL DEFAULT now(),
  approved_at timestamptz,
  CONSTRAINT brand_approved_has_revision CHECK (state NOT IN ('approved', 'suspended', 'expired') OR approved_revision IS NOT NULL)
);
CREATE INDEX brand_owner ON brand (owner, handle);
CREATE INDEX brand_owner_state ON brand (owner, state, handle);

CREATE TABLE brand_revision (
  brand_id bigint NOT NULL REFERENCES brand,
  revision integer NOT NULL CHECK (revision > 0),
  profile jsonb NOT NULL,
  display_name clean_text NOT NULL CHECK (char_length(display_name) <= 32),
  -- What was found about the brand itself. A person has to decide where a letter alone cannot.
  findings jsonb NOT NULL DEFAULT '[]',
  needs_decision boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  created_by text NOT NULL,
  PRIMARY KEY (brand_id, revision)
);

CREATE TABLE letter (
  letter_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  brand_id bigint NOT NULL REFERENCES brand,
  -- The revision that it came with or was checked against.
  revision integer NOT NULL,
  -- The company that gives the authorization. The letter holds for numbers only while the published revision is of this company.
  legal_name clean_text NOT NULL,
  document_id bigint NOT NULL REFERENCES document,
  operation_id bigint NOT NULL UNIQUE REFERENCES branding_operation,
  state text COLLATE "C" NOT NULL CHECK (state IN ('submitted', 'in_review', 'approved', 'rejected', 'expiring', 'expired', 'withdrawn')),
  submitted_at timestamptz NOT NULL,
  rule_version text COLLATE "C" NOT NULL,
  -- pdf or png, and its pages; unknown of a file that could not be read.
  format text COLLATE "C",
  pages integer,
  signed_on date,
  -- The day on which it ends by its own words, if that is earlier than 12 months after its signature.
  ends_on date,
  decided_at timestamptz,
  decided_by text,
  decision_reason text,
  valid_from timestamptz,
  valid_until timestamptz,
  FOREIGN KEY (brand_id, revision) REFERENCES brand_revision,
  CONSTRAINT letter_valid CHECK ((state IN ('approved', 'expiring', 'expired')) <= (valid_from IS NOT NULL AND valid_until IS NOT NULL AND valid_from < valid_until))
);
CREATE INDEX letter_brand ON letter (brand_id, letter_id);
CREATE INDEX letter_in_force ON letter (valid_until) WHERE state IN ('approved', 'expiring');
CREATE INDEX letter_document ON letter (document_id);

-- What was checked, without the text that it was read from (that is in the sealed reading).
CREATE TABLE letter_finding (
  letter_id bigint NOT NULL REFERENCES letter,
  position integer NOT NULL,
  code text COLLATE "C" NOT NULL,
  severity text COLLATE "C" NOT NULL CHECK (severity IN ('pass', 'note', 'review', 'reject')),
  message text NOT NULL,
  page integer,
  line integer,
  PRIMARY KEY (letter_id, position)
);

-- The numbers that a letter authorizes.
CREATE TABLE letter_number (
  letter_id bigint NOT NULL REFERENCES letter,
  phone e164 NOT NULL,
  PRIMARY KEY (letter_id, phone)
);
CREATE INDEX letter_number_phone ON letter_number (phone);

CREATE TABLE brand_number (
  brand_id bigint NOT NULL REFERENCES brand,
  phone e164 NOT NULL,
  country country_code,
  call_reason clean_text CHECK (char_length(call_reason) <= 50),
  state text COLLATE "C" NOT NULL CHECK (state IN ('submitted', 'in_review', 'verified', 'unsuccessful', 'permanently_rejected', 'suspended', 'expired', 'removed')),
  submitted_at timestamptz NOT NULL DEFAULT now(),
  changed_at timestamptz NOT NULL DEFAULT now(),
  verified_at timestamptz,
  -- When a verified number expired, at the latest.
  ended_at timestamptz,
  PRIMARY KEY (brand_id, phone)
);
CREATE UNIQUE INDEX brand_number_one_live_brand ON brand_number (phone) WHERE state IN ('submitted', 'in_review', 'verified', 'suspended');
CREATE INDEX brand_number_phone ON brand_number (phone);
CREATE INDEX brand_number_state ON brand_number (brand_id, state, phone);

-- Who did what, when and why. Rows are only ever added. What they name is never deleted, so foreign keys would only cost:
-- a request of 100,000 numbers adds 200,000 rows.
CREATE TABLE branding_event (
  event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  brand_id bigint NOT NULL,
  subject text COLLATE "C" NOT NULL CHECK (subject IN ('brand', 'letter', 'number')),
  letter_id bigint,
  phone e164,
  action text COLLATE "C" NOT NULL,
  before text COLLATE "C",
  after text COLLATE "C" NOT NULL,
  actor text NOT NULL CHECK (actor ~ '\S'),
  reason text NOT NULL CHECK (reason ~ '\S'),
  operation_id bigint,
  CONSTRAINT branding_event_subject CHECK ((subject = 'letter') = (letter_id IS NOT NULL) AND (subject = 'number') = (phone IS NOT NULL))
);
CREATE INDEX branding_event_brand ON branding_event (brand_id, event_id);
CREATE INDEX branding_event_at ON branding_event (at);

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are only ever added', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;
CREATE TRIGGER branding_event_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON branding_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
-- Also for a session that replays replicated changes.
ALTER TABLE branding_event ENABLE ALWAYS TRIGGER branding_event_append_only;

-- The API shows states and findings: nothing sealed, no request, no profile but the columns of this view.
CREATE VIEW brand_overview AS
  SELECT b.brand_id, b.handle, b.owner, b.state, b.created_at, b.changed_at, b.approved_at, b.approved_revision, b.pending_revision,
    r.display_name, r.profile ->> 'legalName' AS legal_name, r.profile ->> 'dba' AS dba, r.profile ->> 'website' AS website,
    r.profile ->> 'country' AS country, r.profile -> 'callReasons' AS call_reasons, r.profile ->> 'logo' AS logo,
    r.profile ->> 'relationship' AS relationship, p.display_name AS pending_display_name
  FROM brand AS b
  -- Lateral with a limit: over a plain join the planner sorted all brands of an owner for a page, 955 ms instead of 9 for 100,000.
  CROSS JOIN LATERAL (
    SELECT display_name, profile FROM brand_revision
    WHERE brand_id = b.brand_id AND revision = coalesce(b.approved_revision, b.pending_revision, b.last_revision)
    LIMIT 1) AS r
  LEFT JOIN brand_revision AS p ON p.brand_id = b.brand_id AND p.revision = b.pending_revision;
GRANT SELECT ON brand_overview, letter, letter_finding, brand_number, letter_number, branded_number TO caller_trust_reader;
