-- Compatible with older workers: yes (new objects only).
-- Recordings, batches of verifications with their results, models that were added, drift reports, voiceprints.

-- Audio by content. The file is in the audio directory under its digest; the row stays when the file is deleted.
CREATE TABLE recording (
  sha256 text COLLATE "C" PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bigint NOT NULL CHECK (bytes >= 0),
  stored_at timestamptz NOT NULL DEFAULT now(),
  -- Retention counts from here.
  last_used_at timestamptz NOT NULL DEFAULT now(),
  -- Facts of the content, known once it was opened.
  format text COLLATE "C",
  codec text COLLATE "C",
  sample_rate integer CHECK (sample_rate > 0),
  channels integer CHECK (channels > 0),
  duration_seconds double precision CHECK (duration_seconds >= 0),
  deleted_at timestamptz,
  deleted_why text,
  CONSTRAINT recording_deleted CHECK ((deleted_at IS NULL) = (deleted_why IS NULL))
);
CREATE INDEX recording_retention ON recording (last_used_at) WHERE deleted_at IS NULL;

-- Recordings that were handed in together. The same key of the same owner gives the same batch.
CREATE TABLE verification_batch (
  batch_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  -- The client, as API keys name it, that sees this batch.
  owner clean_text NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL CHECK (idempotency_key ~ '^[!-~]{1,128}$'),
  -- Of the request, without the items: another request under the same key is refused.
  request_sha256 text COLLATE "C" NOT NULL CHECK (request_sha256 ~ '^[0-9a-f]{64}$'),
  name text NOT NULL,
  mode text COLLATE "C" NOT NULL CHECK (mode IN ('api', 'webDemo')),
  requested_model text COLLATE "C" NOT NULL,
  -- What the request meant when it was made: the release, and the models that stand for the two families.
  release text COLLATE "C" NOT NULL,
  pinned_phone text COLLATE "C",
  pinned_digital text COLLATE "C",
  settings jsonb NOT NULL,
  settings_sha256 text COLLATE "C" NOT NULL CHECK (settings_sha256 ~ '^[0-9a-f]{64}$'),
  -- open: items are still being handed in.
  state text COLLATE "C" NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'queued', 'performing', 'done', 'cancelled')),
  -- Rises with each retry: jobs of an older one do nothing.
  generation integer NOT NULL DEFAULT 1 CHECK (generation > 0),
  items integer NOT NULL DEFAULT 0 CHECK (items >= 0),
  requested_by text NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  ended_at timestamptz,
  UNIQUE (owner, idempotency_key),
  CONSTRAINT verification_batch_ended CHECK ((state IN ('done', 'cancelled')) = (ended_at IS NOT NULL))
);
CREATE INDEX verification_batch_due ON verification_batch (batch_id) WHERE state IN ('queued', 'performing');
CREATE INDEX verification_batch_owner ON verification_batch (owner, batch_id);
CREATE INDEX verification_batch_requested_by ON verification_batch (requested_by);

-- What a model with certain settings said of certain audio. Made once; every item of the same three refers to it.
CREATE TABLE verification_result (
  result_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  audio_sha256 text COLLATE "C" NOT NULL REFERENCES recording,
  model text COLLATE "C" NOT NULL,
  -- Of the model's manifest, which holds the digest of its weights.
  model_sha256 text COLLATE "C" NOT NULL CHECK (model_sha256 ~ '^[0-9a-f]{64}$'),
  settings_sha256 text COLLATE "C" NOT NULL CHECK (settings_sha256 ~ '^[0-9a-f]{64}$'),
  state text COLLATE "C" NOT NULL CHECK (state IN ('performed', 'performedWithoutScore')),
  reason text COLLATE "C",
  sample_rate integer NOT NULL,
  channels integer NOT NULL,
  duration_seconds double precision NOT NULL,
  voice_seconds double precision NOT NULL,
  synthesis double precision CHECK (synthesis BETWEEN 0 AND 1),
  replay double precision CHECK (replay BETWEEN 0 AND 1),
  decision jsonb,
  -- Scores a channel where channels are scored apart, and scores a window.
  channel_scores jsonb NOT NULL DEFAULT '[]',
  windows jsonb NOT NULL DEFAULT '[]',
  notes jsonb NOT NULL DEFAULT '[]',
  computed_ms double precision NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (audio_sha256, model, model_sha256, settings_sha256),
  CONSTRAINT verification_result_scores CHECK (
    CASE state WHEN 'performed' THEN (synthesis IS NOT NULL OR replay IS NOT NULL) AND decision IS NOT NULL AND reason IS NULL
               ELSE synthesis IS NULL AND replay IS NULL AND decision IS NULL AND reason IS NOT NULL END)
);

-- One item of a batch.
CREATE TABLE verification (
  verification_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  batch_id bigint NOT NULL REFERENCES verification_batch,
  -- Its place in the batch from 1, and the job that performs it.
  line integer NOT NULL CHECK (line > 0),
  chunk integer NOT NULL CHECK (chunk >= 0),
  -- The path or name as it was given.
  source text NOT NULL,
  audio_sha256 text COLLATE "C" REFERENCES recording,
  requested_model text COLLATE "C" NOT NULL,
  -- The resolved one; null until it is known, or where none could be.
  model text COLLATE "C",
  state text COLLATE "C" NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'performing', 'performed', 'performedWithoutScore', 'error')),
  result_id bigint REFERENCES verification_result,
  -- True if the result had been made before, so that nothing was computed for this item.
  reused boolean NOT NULL DEFAULT false,
  reason text COLLATE "C",
  reason_detail text,
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  queued_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  ended_at timestamptz,
  UNIQUE (batch_id, line),
  CONSTRAINT verification_outcome CHECK (
    CASE state WHEN 'performed' THEN result_id IS NOT NULL AND reason IS NULL AND ended_at IS NOT NULL
               WHEN 'performedWithoutScore' THEN result_id IS NOT NULL AND reason IS NOT NULL AND ended_at IS NOT NULL
               WHEN 'error' THEN result_id IS NULL AND reason IS NOT NULL AND ended_at IS NOT NULL
               ELSE result_id IS NULL AND reason IS NULL AND ended_at IS NULL END)
);
CREATE INDEX verification_chunk ON verification (batch_id, chunk) WHERE state IN ('queued', 'performing');
CREATE INDEX verification_state ON verification (batch_id, state, line);
CREATE INDEX verification_model ON verification (batch_id, model, line);
CREATE INDEX verification_audio ON verification (audio_sha256);
CREATE INDEX verification_result_of ON verification (result_id);

-- Models that were added beside the shipped ones. The weights lie in the model directory under their digest.
CREATE TABLE added_model (
  model text COLLATE "C" PRIMARY KEY CHECK (model ~ '^[a-z]+/v[0-9a-z.-]{1,40}$'),
  family text COLLATE "C" NOT NULL CHECK (family IN ('phone', 'digital')),
  manifest jsonb NOT NULL,
  manifest_sha256 text COLLATE "C" NOT NULL CHECK (manifest_sha256 ~ '^[0-9a-f]{64}$'),
  weights_sha256 text COLLATE "C" NOT NULL CHECK (weights_sha256 ~ '^[0-9a-f]{64}$'),
  added_at timestamptz NOT NULL DEFAULT now(),
  added_by text NOT NULL CHECK (added_by ~ '\S'),
  reason text NOT NULL CHECK (reason ~ '\S')
);

-- Two models on the same stored audio.
CREATE TABLE drift_report (
  report_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  old_model text COLLATE "C" NOT NULL,
  new_model text COLLATE "C" NOT NULL,
  batch_id bigint NOT NULL REFERENCES verification_batch,
  made_at timestamptz NOT NULL DEFAULT now(),
  made_by text NOT NULL,
  items integer NOT NULL CHECK (items >= 0),
  report jsonb NOT NULL
);
CREATE INDEX drift_report_models ON drift_report (old_model, new_model, report_id);

-- Which model a family takes, from when. Rows are only ever added; the newest of a family holds.
CREATE TABLE model_default (
  default_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  family text COLLATE "C" NOT NULL CHECK (family IN ('phone', 'digital')),
  model text COLLATE "C" NOT NULL,
  since timestamptz NOT NULL DEFAULT now(),
  set_by text NOT NULL CHECK (set_by ~ '\S'),
  reason text NOT NULL CHECK (reason ~ '\S'),
  report_id bigint REFERENCES drift_report,
  forced boolean NOT NULL DEFAULT false,
  CONSTRAINT model_default_reported CHECK (forced OR report_id IS NOT NULL)
);
CREATE INDEX model_default_family ON model_default (family, default_id);

-- A person's voice as numbers, sealed under a key of its own. Without the key nothing can be read again.
CREATE TABLE voiceprint (
  voiceprint_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  owner clean_text NOT NULL,
  -- What the client calls the person: a reference, not a name.
  subject clean_text NOT NULL CHECK (char_length(subject) <= 128),
  model text COLLATE "C" NOT NULL,
  model_sha256 text COLLATE "C" NOT NULL,
  recordings integer NOT NULL CHECK (recordings >= 3),
  voice_seconds double precision NOT NULL,
  consent_reference clean_text NOT NULL CHECK (char_length(consent_reference) <= 256),
  consent_at timestamptz NOT NULL,
  consent_recorded_by text NOT NULL CHECK (consent_recorded_by ~ '\S'),
  sealed_embedding bytea,
  wrapped_key bytea,
  master_key_id text COLLATE "C" NOT NULL,
  enrolled_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  deleted_why text,
  CONSTRAINT voiceprint_deleted CHECK (
    CASE WHEN deleted_at IS NULL THEN wrapped_key IS NOT NULL AND sealed_embedding IS NOT NULL
         ELSE wrapped_key IS NULL AND sealed_embedding IS NULL AND deleted_why ~ '\S' END)
);
CREATE UNIQUE INDEX voiceprint_subject ON voiceprint (owner, subject) WHERE deleted_at IS NULL;

-- A recording compared with a voiceprint.
CREATE TABLE voice_verification (
  voice_verification_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  public_id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  voiceprint_id bigint NOT NULL REFERENCES voiceprint,
  audio_sha256 text COLLATE "C" NOT NULL,
  result_id bigint REFERENCES verification_result,
  identity double precision CHECK (identity BETWEEN 0 AND 1),
  decision jsonb,
  reason text COLLATE "C",
  verified_at timestamptz NOT NULL DEFAULT now(),
  verified_by text NOT NULL,
  CONSTRAINT voice_verification_outcome CHECK ((identity IS NULL) = (reason IS NOT NULL))
);
CREATE INDEX voice_verification_voiceprint ON voice_verification (voiceprint_id);

-- Who did what to a voiceprint, and when. Rows are only ever added.
CREATE TABLE voiceprint_event (
  event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  voiceprint_id bigint NOT NULL,
  action text COLLATE "C" NOT NULL CHECK (action IN ('enrolled', 'verified', 'deleted')),
  actor text NOT NULL CHECK (actor ~ '\S'),
  reason text NOT NULL CHECK (reason ~ '\S')
);
CREATE INDEX voiceprint_event_voiceprint ON voiceprint_event (voiceprint_id, event_id);
CREATE TRIGGER voiceprint_event_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON voiceprint_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE voiceprint_event ENABLE ALWAYS TRIGGER voiceprint_event_append_only;
CREATE TRIGGER model_default_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON model_default
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE model_default ENABLE ALWAYS TRIGGER model_default_append_only;

-- The API shows states and scores; nothing of voiceprints.
GRANT SELECT ON recording, verification_batch, verification, verification_result, added_model, model_default TO caller_trust_reader;
