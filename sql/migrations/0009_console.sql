-- Compatible with older workers: yes (new objects, and a column that a trigger fills).
-- Users of the console, their sessions, and the trail of what was done there.

CREATE TABLE console_user (
  user_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9._-]{0,39}$'),
  role text COLLATE "C" NOT NULL CHECK (role IN ('viewer', 'reviewer', 'operator')),
  -- scrypt (RFC 7914) with its parameters and salt; the password is not stored.
  password_hash text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  password_changed_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE console_session (
  -- SHA-256 of the token in the browser's cookie; the token itself is not stored.
  session_hash bytea PRIMARY KEY CHECK (octet_length(session_hash) = 32),
  user_id int NOT NULL REFERENCES console_user ON DELETE CASCADE,
  created_at timestamptz NOT NULL DEFAULT now(),
  seen_at timestamptz NOT NULL DEFAULT now(),
  ends_at timestamptz NOT NULL
);
CREATE INDEX console_session_user ON console_session (user_id);

-- Who did what in the console, and from where. Rows are only ever added; names stay when their users are gone.
CREATE TABLE console_event (
  event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  actor text NOT NULL CHECK (actor ~ '\S'),
  action text COLLATE "C" NOT NULL,
  -- What it was done to: `letter 7`, `night 12`, `user ada`.
  object text,
  detail jsonb NOT NULL DEFAULT '{}',
  address inet
);
CREATE INDEX console_event_at ON console_event (at);
CREATE INDEX console_event_actor ON console_event (actor, event_id);
CREATE TRIGGER console_event_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON console_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE console_event ENABLE ALWAYS TRIGGER console_event_append_only;

-- What the decision on a verification says, beside its state and model: lists of all clients are narrowed to it. Those that are there
-- already get it in 0010_verification_labels.sql.
ALTER TABLE verification ADD COLUMN label text COLLATE "C";
CREATE FUNCTION set_verification_label() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.label := (SELECT decision ->> 'label' FROM verification_result WHERE result_id = NEW.result_id);
  RETURN NEW;
END $$;
CREATE TRIGGER verification_label BEFORE INSERT OR UPDATE OF result_id ON verification
  FOR EACH ROW WHEN (NEW.result_id IS NOT NULL) EXECUTE FUNCTION set_verification_label();

CREATE INDEX verification_batch_of_demo ON verification_batch (batch_id) WHERE mode = 'webDemo';
CREATE INDEX verification_batch_requested_at ON verification_batch (requested_at);
CREATE INDEX voice_verification_audio ON voice_verification (audio_sha256, voice_verification_id);

-- Letters that wait for a person: the review desk, and their count on every page.
CREATE INDEX letter_waiting ON letter (letter_id) WHERE state IN ('submitted', 'in_review');

-- Brands, and new revisions of approved ones, that wait for a person.
CREATE INDEX brand_waiting ON brand (handle) WHERE pending_revision IS NOT NULL;

-- The list of requests for branding, newest first, by each of its filters.
CREATE INDEX branding_operation_newest_of_owner ON branding_operation (owner, operation_id);
CREATE INDEX branding_operation_newest_of_brand ON branding_operation ((request ->> 'handle'), operation_id);
CREATE INDEX branding_operation_newest_standing ON branding_operation ((coalesce(result ->> 'outcome', state)), operation_id);

-- What happened to a voiceprint beside comparisons, of which there can be any number.
CREATE INDEX voiceprint_event_uncompared ON voiceprint_event (voiceprint_id, event_id) WHERE action <> 'verified';
