-- The schema that the migrations make. Written by `caller-trust migrate --dump`; a test compares it.

-- domain clean_text
CREATE DOMAIN clean_text AS text COLLATE "C"
  CONSTRAINT clean_text_characters CHECK ((VALUE !~ '[\u0001-\u001F\u007F-\u009F\\\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]'::text))
  CONSTRAINT clean_text_nfc CHECK ((VALUE IS NFC NORMALIZED))
  CONSTRAINT clean_text_present CHECK ((VALUE <> ''::text));

-- domain country_code
CREATE DOMAIN country_code AS text COLLATE "C"
  CONSTRAINT country_code_form CHECK ((VALUE ~ '^[A-Z]{2}$'::text));

-- domain e164
CREATE DOMAIN e164 AS text COLLATE "C"
  CONSTRAINT e164_form CHECK (((VALUE ~ '^\+[1-9][0-9]+$'::text) AND ((octet_length(VALUE) >= 9) AND (octet_length(VALUE) <= 16))));

-- domain reputation_level
CREATE DOMAIN reputation_level AS text COLLATE "C"
  CONSTRAINT reputation_level_known CHECK ((VALUE = ANY (ARRAY['NEUTRAL'::text, 'SPAM'::text, 'FRAUD'::text])));

-- table added_model
CREATE TABLE added_model (
  model text COLLATE "C" NOT NULL,
  family text COLLATE "C" NOT NULL,
  manifest jsonb NOT NULL,
  manifest_sha256 text COLLATE "C" NOT NULL,
  weights_sha256 text COLLATE "C" NOT NULL,
  added_at timestamp with time zone NOT NULL DEFAULT now(),
  added_by text NOT NULL,
  reason text NOT NULL
);

-- table api_key
CREATE TABLE api_key (
  key_id text COLLATE "C" NOT NULL,
  client text NOT NULL,
  key_hash bytea NOT NULL,
  scopes text[] NOT NULL,
  brand_handle text COLLATE "C",
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  expires_at timestamp with time zone,
  revoked_at timestamp with time zone
);

-- table artefact_version
CREATE TABLE artefact_version (
  cache text COLLATE "C" NOT NULL,
  country text COLLATE "C" NOT NULL,
  version integer NOT NULL,
  build_id bigint NOT NULL,
  as_of timestamp with time zone NOT NULL,
  built_at timestamp with time zone NOT NULL,
  published_at timestamp with time zone NOT NULL DEFAULT now(),
  facts jsonb NOT NULL
);

-- table brand
CREATE TABLE brand (
  brand_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  handle text COLLATE "C" NOT NULL,
  owner clean_text NOT NULL,
  state text COLLATE "C" NOT NULL,
  approved_revision integer,
  pending_revision integer,
  last_revision integer NOT NULL DEFAULT 1,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  changed_at timestamp with time zone NOT NULL DEFAULT now(),
  approved_at timestamp with time zone
);

-- table brand_number
CREATE TABLE brand_number (
  brand_id bigint NOT NULL,
  phone e164 NOT NULL,
  number_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  country country_code,
  call_reason clean_text,
  state text COLLATE "C" NOT NULL,
  submitted_at timestamp with time zone NOT NULL DEFAULT now(),
  changed_at timestamp with time zone NOT NULL DEFAULT now(),
  verified_at timestamp with time zone,
  ended_at timestamp with time zone
);

-- table brand_revision
CREATE TABLE brand_revision (
  brand_id bigint NOT NULL,
  revision integer NOT NULL,
  profile jsonb NOT NULL,
  display_name clean_text NOT NULL,
  findings jsonb NOT NULL DEFAULT '[]'::jsonb,
  needs_decision boolean NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  operation_id bigint NOT NULL
);

-- table branded_number
CREATE TABLE branded_number (
  phone e164 NOT NULL,
  brand_handle clean_text NOT NULL,
  display_name clean_text NOT NULL,
  display_description clean_text,
  display_detail clean_text,
  display_image clean_text,
  live_from timestamp with time zone NOT NULL,
  live_until timestamp with time zone
);

-- table branding_event
CREATE TABLE branding_event (
  event_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  brand_id bigint NOT NULL,
  subject text COLLATE "C" NOT NULL,
  letter_id bigint,
  phone e164,
  action text COLLATE "C" NOT NULL,
  before text COLLATE "C",
  after text COLLATE "C" NOT NULL,
  actor text NOT NULL,
  reason text NOT NULL,
  operation_id bigint
);

-- table branding_operation
CREATE TABLE branding_operation (
  operation_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  owner clean_text NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  request jsonb NOT NULL,
  request_sha256 text COLLATE "C" NOT NULL,
  letter_document_id bigint,
  numbers_document_id bigint,
  requested_by text NOT NULL,
  submitted_by text,
  requested_at timestamp with time zone NOT NULL DEFAULT now(),
  state text COLLATE "C" NOT NULL DEFAULT 'queued'::text,
  finished_at timestamp with time zone,
  result jsonb,
  failure_code text,
  failure_reason text
);

-- table branding_operation_row
CREATE TABLE branding_operation_row (
  operation_id bigint NOT NULL,
  line integer NOT NULL,
  phone e164,
  outcome text COLLATE "C" NOT NULL,
  reason text NOT NULL
);

-- table build
CREATE TABLE build (
  build_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  run_id bigint NOT NULL,
  generation integer NOT NULL,
  cache text COLLATE "C" NOT NULL,
  country text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'pending'::text,
  attempts integer NOT NULL DEFAULT 0,
  crashes integer NOT NULL DEFAULT 0,
  started_at timestamp with time zone,
  built_at timestamp with time zone,
  rows bigint,
  rows_expected bigint,
  basis_version integer,
  facts jsonb,
  moves jsonb,
  gates jsonb NOT NULL DEFAULT '[]'::jsonb,
  failure_code text,
  failure_reason text
);

-- table complaint
CREATE TABLE complaint (
  complaint_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  phone e164 NOT NULL,
  country country_code,
  reported_at timestamp with time zone NOT NULL,
  violated_at timestamp with time zone,
  consumer_state clean_text,
  subject clean_text NOT NULL,
  recorded boolean,
  occurrence integer NOT NULL,
  load_id bigint NOT NULL
);

-- table complaint_day
CREATE TABLE complaint_day (
  load_id bigint NOT NULL,
  day date NOT NULL,
  complaints bigint NOT NULL
);

-- table complaint_score
CREATE TABLE complaint_score (
  phone e164 NOT NULL,
  country country_code,
  level reputation_level NOT NULL,
  category smallint,
  score double precision NOT NULL,
  reports integer NOT NULL,
  independent_reports integer NOT NULL,
  days integer NOT NULL,
  states integer NOT NULL,
  first_reported_at timestamp with time zone,
  last_reported_at timestamp with time zone,
  rule_version text COLLATE "C" NOT NULL,
  scored_at timestamp with time zone NOT NULL
);

-- table complaint_subject
CREATE TABLE complaint_subject (
  subject text COLLATE "C" NOT NULL,
  category smallint
);

-- table console_event
CREATE TABLE console_event (
  event_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  actor text NOT NULL,
  action text COLLATE "C" NOT NULL,
  object text,
  detail jsonb NOT NULL DEFAULT '{}'::jsonb,
  address inet
);

-- table console_session
CREATE TABLE console_session (
  session_hash bytea NOT NULL,
  user_id integer NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  seen_at timestamp with time zone NOT NULL DEFAULT now(),
  ends_at timestamp with time zone NOT NULL
);

-- table console_user
CREATE TABLE console_user (
  user_id integer NOT NULL GENERATED ALWAYS AS IDENTITY,
  name text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL,
  password_hash text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  password_changed_at timestamp with time zone NOT NULL DEFAULT now()
);

-- table console_user_owner
CREATE TABLE console_user_owner (
  user_id integer NOT NULL,
  owner clean_text NOT NULL
);

-- table document
CREATE TABLE document (
  document_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  kind text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  bytes bigint NOT NULL,
  stored_at timestamp with time zone NOT NULL DEFAULT now(),
  sealed_content bytea,
  sealed_reading bytea,
  wrapped_key bytea,
  master_key_id text COLLATE "C" NOT NULL,
  destroyed_at timestamp with time zone,
  destroyed_why text
);

-- table drift_report
CREATE TABLE drift_report (
  report_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  old_model text COLLATE "C" NOT NULL,
  new_model text COLLATE "C" NOT NULL,
  batch_id bigint NOT NULL,
  made_at timestamp with time zone NOT NULL DEFAULT now(),
  made_by text NOT NULL,
  items integer NOT NULL,
  report jsonb NOT NULL
);

-- table feed_load
CREATE TABLE feed_load (
  load_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  feed text COLLATE "C" NOT NULL,
  source text COLLATE "C" NOT NULL DEFAULT ''::text,
  file_name text NOT NULL,
  file_sha256 text COLLATE "C" NOT NULL,
  file_bytes bigint NOT NULL,
  options jsonb NOT NULL DEFAULT '{}'::jsonb,
  submitted_by text NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'queued'::text,
  requested_at timestamp with time zone NOT NULL DEFAULT now(),
  started_at timestamp with time zone,
  finished_at timestamp with time zone,
  date_form text COLLATE "C",
  rows_given bigint,
  rows_accepted bigint,
  rows_rejected bigint,
  rows_superseded bigint,
  rows_too_old bigint,
  rows_changed bigint,
  labels_withheld bigint,
  rejects_by_code jsonb NOT NULL DEFAULT '{}'::jsonb,
  measures jsonb,
  gates jsonb NOT NULL DEFAULT '[]'::jsonb,
  decision text COLLATE "C",
  decided_by text,
  decided_reason text,
  decided_at timestamp with time zone,
  merged_by xid8,
  failure_code text,
  failure_reason text
);

-- table feed_reject
CREATE TABLE feed_reject (
  load_id bigint NOT NULL,
  line_number bigint NOT NULL,
  code text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  excerpt text NOT NULL
);

-- table intake_request
CREATE TABLE intake_request (
  request_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  client text NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  brand_handle text COLLATE "C",
  idempotency_key text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  request_sha256 text COLLATE "C" NOT NULL,
  object text COLLATE "C" NOT NULL,
  address inet,
  accepted_at timestamp with time zone NOT NULL DEFAULT now()
);

-- table issued_form
CREATE TABLE issued_form (
  form_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  code text COLLATE "C" NOT NULL,
  owner clean_text NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  bytes bigint NOT NULL,
  form_version text COLLATE "C" NOT NULL,
  language text COLLATE "C" NOT NULL,
  content jsonb NOT NULL,
  signature_place jsonb NOT NULL,
  issued_at timestamp with time zone NOT NULL,
  issued_by text NOT NULL,
  valid_until timestamp with time zone NOT NULL,
  brand_id bigint,
  handle text COLLATE "C",
  revoked_at timestamp with time zone,
  revoked_by text,
  revoked_reason text
);

-- table label_event
CREATE TABLE label_event (
  event_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  phone e164 NOT NULL,
  at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  changed_by xid8 NOT NULL DEFAULT pg_current_xact_id(),
  level_before reputation_level NOT NULL,
  category_before smallint,
  source_before text COLLATE "C",
  level reputation_level NOT NULL,
  category smallint,
  source text COLLATE "C",
  cause text COLLATE "C" NOT NULL,
  rule_version text COLLATE "C",
  evaluated_at timestamp with time zone,
  load_id bigint,
  redress_id bigint,
  evidence jsonb
);

-- table letter
CREATE TABLE letter (
  letter_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  brand_id bigint NOT NULL,
  revision integer NOT NULL,
  legal_name clean_text NOT NULL,
  document_id bigint NOT NULL,
  operation_id bigint NOT NULL,
  form_id bigint,
  state text COLLATE "C" NOT NULL,
  submitted_at timestamp with time zone NOT NULL,
  rule_version text COLLATE "C" NOT NULL,
  format text COLLATE "C",
  pages integer,
  signed_on date,
  decided_at timestamp with time zone,
  decided_by text,
  decision_reason text,
  valid_from timestamp with time zone,
  valid_until timestamp with time zone
);

-- table letter_finding
CREATE TABLE letter_finding (
  letter_id bigint NOT NULL,
  "position" integer NOT NULL,
  code text COLLATE "C" NOT NULL,
  severity text COLLATE "C" NOT NULL,
  message text NOT NULL,
  page integer,
  line integer
);

-- table letter_number
CREATE TABLE letter_number (
  letter_id bigint NOT NULL,
  phone e164 NOT NULL
);

-- table model_default
CREATE TABLE model_default (
  default_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  family text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  since timestamp with time zone NOT NULL DEFAULT now(),
  set_by text NOT NULL,
  reason text NOT NULL,
  report_id bigint,
  forced boolean NOT NULL DEFAULT false
);

-- table night_release
CREATE TABLE night_release (
  release_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  cache text COLLATE "C" NOT NULL,
  country text COLLATE "C" NOT NULL,
  build_id bigint NOT NULL,
  reason text NOT NULL,
  released_by text NOT NULL,
  released_at timestamp with time zone NOT NULL DEFAULT now(),
  used_by_build_id bigint
);

-- table night_run
CREATE TABLE night_run (
  run_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  night_date date NOT NULL,
  trigger text COLLATE "C" NOT NULL,
  only_cache text COLLATE "C",
  only_country text COLLATE "C",
  accept_shrink boolean NOT NULL DEFAULT false,
  evaluated_at timestamp with time zone,
  state text COLLATE "C" NOT NULL DEFAULT 'due'::text,
  outcome text COLLATE "C",
  generation integer NOT NULL DEFAULT 0,
  requested_by text NOT NULL,
  requested_at timestamp with time zone NOT NULL DEFAULT now(),
  idempotency_key text COLLATE "C",
  request_sha256 text COLLATE "C",
  opened_at timestamp with time zone,
  as_of timestamp with time zone,
  snapshot text,
  transactions text,
  cluster text COLLATE "C",
  finished_at timestamp with time zone,
  failure_code text,
  failure_reason text,
  report jsonb
);

-- table number_dispute
CREATE TABLE number_dispute (
  dispute_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  phone e164 NOT NULL,
  reason text NOT NULL,
  filed_by text NOT NULL,
  filed_at timestamp with time zone NOT NULL DEFAULT now(),
  idempotency_key text COLLATE "C" NOT NULL,
  request_sha256 text COLLATE "C" NOT NULL,
  sealed_contact bytea,
  wrapped_key bytea,
  master_key_id text COLLATE "C",
  contact_digest bytea,
  level reputation_level NOT NULL,
  category smallint,
  source text COLLATE "C",
  state text COLLATE "C" NOT NULL DEFAULT 'open'::text,
  decided_at timestamp with time zone,
  decided_by text,
  decision_reason text,
  redress_id bigint
);

-- table number_proof
CREATE TABLE number_proof (
  proof_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  brand_id bigint NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'open'::text,
  language text COLLATE "C" NOT NULL,
  requested_by text NOT NULL,
  requested_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  ended_at timestamp with time zone,
  failure_code text COLLATE "C",
  valid_until timestamp with time zone
);

-- table number_proof_call
CREATE TABLE number_proof_call (
  call_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  proof_id bigint NOT NULL,
  phone e164 NOT NULL,
  requested_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  code_hash bytea,
  expires_at timestamp with time zone,
  placed_at timestamp with time zone,
  tries integer NOT NULL DEFAULT 0,
  confirmed_at timestamp with time zone
);

-- table number_proof_member
CREATE TABLE number_proof_member (
  proof_id bigint NOT NULL,
  phone e164 NOT NULL,
  left_at timestamp with time zone
);

-- table phone_number
CREATE TABLE phone_number (
  phone e164 NOT NULL,
  country country_code,
  reputation_level reputation_level NOT NULL DEFAULT 'NEUTRAL'::text,
  reputation_category smallint,
  display_name clean_text,
  display_description clean_text,
  display_detail clean_text,
  display_image clean_text,
  reputation_source text COLLATE "C",
  feed_level reputation_level,
  feed_category smallint,
  feed_load_id bigint,
  cleared_at timestamp with time zone
);

-- table protected_name
CREATE TABLE protected_name (
  protected_name_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  name clean_text NOT NULL,
  folded text COLLATE "C" NOT NULL,
  category text COLLATE "C" NOT NULL,
  country text COLLATE "C",
  common boolean NOT NULL,
  reason text NOT NULL,
  added_by text NOT NULL,
  added_at timestamp with time zone NOT NULL DEFAULT now(),
  removed_by text,
  removed_reason text,
  removed_at timestamp with time zone
);

-- table protected_number
CREATE TABLE protected_number (
  protection_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  kind text COLLATE "C" NOT NULL,
  value text COLLATE "C" NOT NULL,
  exceptions text[] NOT NULL DEFAULT '{}'::text[],
  reason text NOT NULL,
  added_by text NOT NULL,
  added_at timestamp with time zone NOT NULL DEFAULT now(),
  removed_by text,
  removed_reason text,
  removed_at timestamp with time zone
);

-- table publication
CREATE TABLE publication (
  cache text COLLATE "C" NOT NULL,
  country text COLLATE "C" NOT NULL,
  version integer,
  status text COLLATE "C" NOT NULL,
  stale_code text,
  stale_reason text,
  stale_since timestamp with time zone,
  confirmed_as_of timestamp with time zone
);

-- table recording
CREATE TABLE recording (
  sha256 text COLLATE "C" NOT NULL,
  bytes bigint NOT NULL,
  stored_at timestamp with time zone NOT NULL DEFAULT now(),
  last_submitted_at timestamp with time zone NOT NULL DEFAULT now(),
  deleted_at timestamp with time zone,
  deleted_why text
);

-- table redress
CREATE TABLE redress (
  redress_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  phone e164 NOT NULL,
  reason text NOT NULL,
  cleared_by text NOT NULL,
  cleared_at timestamp with time zone NOT NULL DEFAULT now(),
  level_before reputation_level,
  category_before smallint,
  source_before text COLLATE "C",
  recorded_by xid8 NOT NULL DEFAULT pg_current_xact_id()
);

-- table reputation_category
CREATE TABLE reputation_category (
  category smallint NOT NULL,
  name clean_text NOT NULL,
  level reputation_level NOT NULL
);

-- table schema_migration
CREATE TABLE schema_migration (
  number integer NOT NULL,
  name text NOT NULL,
  sha256 text NOT NULL,
  compatible boolean NOT NULL,
  applied_at timestamp with time zone NOT NULL DEFAULT now()
);

-- table scoring_rule
CREATE TABLE scoring_rule (
  scoring_rule_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  version text COLLATE "C" NOT NULL,
  moved_by text NOT NULL,
  reason text NOT NULL,
  moved_at timestamp with time zone NOT NULL DEFAULT now()
);

-- table scoring_run
CREATE TABLE scoring_run (
  scoring_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  evaluated_at timestamp with time zone NOT NULL,
  rule_version text COLLATE "C" NOT NULL,
  days date[] NOT NULL,
  ages integer[] NOT NULL,
  scored_all boolean NOT NULL,
  transactions text NOT NULL,
  cluster text COLLATE "C" NOT NULL,
  recorded_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  recorded_by xid8 NOT NULL DEFAULT pg_current_xact_id()
);

-- table service_secret
CREATE TABLE service_secret (
  name text COLLATE "C" NOT NULL,
  fingerprint bytea NOT NULL,
  recorded_at timestamp with time zone NOT NULL DEFAULT now()
);

-- table spam_range
CREATE TABLE spam_range (
  prefix text COLLATE "C" NOT NULL,
  country country_code,
  risk text COLLATE "C" NOT NULL,
  lift integer NOT NULL,
  numbers_reported integer NOT NULL,
  since date NOT NULL,
  until date NOT NULL,
  rule_version text COLLATE "C" NOT NULL
);

-- table trust_document
CREATE TABLE trust_document (
  name text COLLATE "C" NOT NULL,
  sha256 text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  body bytea NOT NULL,
  signed_at timestamp with time zone NOT NULL DEFAULT now(),
  superseded_at timestamp with time zone
);

-- table trust_key
CREATE TABLE trust_key (
  trust_key_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  key_id text COLLATE "C" NOT NULL,
  role text COLLATE "C" NOT NULL,
  sealed_key bytea NOT NULL,
  wrapped_key bytea NOT NULL,
  master_key_id text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT now()
);

-- table trust_state
CREATE TABLE trust_state (
  singleton boolean NOT NULL DEFAULT true,
  revision bigint NOT NULL DEFAULT 0
);

-- table upload
CREATE TABLE upload (
  upload_id uuid NOT NULL DEFAULT gen_random_uuid(),
  client text NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL,
  bytes bigint NOT NULL,
  reserved_bytes bigint NOT NULL,
  sha256 text COLLATE "C",
  created_at timestamp with time zone NOT NULL DEFAULT now(),
  active_at timestamp with time zone NOT NULL DEFAULT now(),
  completed_at timestamp with time zone
);

-- table verification
CREATE TABLE verification (
  public_id uuid NOT NULL DEFAULT gen_random_uuid(),
  batch_id bigint NOT NULL,
  line integer NOT NULL,
  source text NOT NULL,
  audio_sha256 text COLLATE "C",
  requested_model text COLLATE "C" NOT NULL,
  model text COLLATE "C",
  state text COLLATE "C" NOT NULL DEFAULT 'queued'::text,
  result_id bigint,
  label text COLLATE "C",
  reused boolean NOT NULL DEFAULT false,
  reason text COLLATE "C",
  reason_detail text,
  attempts integer NOT NULL DEFAULT 0,
  queued_at timestamp with time zone NOT NULL DEFAULT now(),
  started_at timestamp with time zone,
  ended_at timestamp with time zone
);

-- table verification_batch
CREATE TABLE verification_batch (
  batch_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  public_id uuid NOT NULL DEFAULT gen_random_uuid(),
  owner clean_text NOT NULL,
  idempotency_key text COLLATE "C" NOT NULL,
  request_sha256 text COLLATE "C" NOT NULL,
  name text NOT NULL,
  mode text COLLATE "C" NOT NULL,
  requested_model text COLLATE "C" NOT NULL,
  release text COLLATE "C" NOT NULL,
  pinned_phone text COLLATE "C",
  pinned_digital text COLLATE "C",
  settings jsonb NOT NULL,
  settings_sha256 text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'open'::text,
  generation integer NOT NULL DEFAULT 1,
  items integer NOT NULL DEFAULT 0,
  requested_by text NOT NULL,
  requested_at timestamp with time zone NOT NULL DEFAULT now(),
  ended_at timestamp with time zone
);

-- table verification_result
CREATE TABLE verification_result (
  result_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  audio_sha256 text COLLATE "C" NOT NULL,
  model text COLLATE "C" NOT NULL,
  model_sha256 text COLLATE "C" NOT NULL,
  settings_sha256 text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL,
  reason text COLLATE "C",
  format text COLLATE "C" NOT NULL,
  codec text COLLATE "C" NOT NULL,
  sample_rate integer NOT NULL,
  channels integer NOT NULL,
  duration_seconds double precision NOT NULL,
  voice_seconds double precision NOT NULL,
  synthesis double precision,
  replay double precision,
  decision jsonb,
  channel_scores jsonb NOT NULL DEFAULT '[]'::jsonb,
  windows jsonb NOT NULL DEFAULT '[]'::jsonb,
  notes jsonb NOT NULL DEFAULT '[]'::jsonb,
  computed_ms double precision NOT NULL,
  made_at timestamp with time zone NOT NULL DEFAULT now()
);

-- table voice_verification
CREATE TABLE voice_verification (
  voice_verification_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  public_id uuid NOT NULL DEFAULT gen_random_uuid(),
  voiceprint_id bigint NOT NULL,
  audio_sha256 text COLLATE "C" NOT NULL,
  result_id bigint,
  identity double precision,
  decision jsonb,
  reason text COLLATE "C",
  verified_at timestamp with time zone NOT NULL DEFAULT now(),
  verified_by text NOT NULL
);

-- table voiceprint
CREATE TABLE voiceprint (
  voiceprint_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  public_id uuid NOT NULL DEFAULT gen_random_uuid(),
  owner clean_text NOT NULL,
  subject clean_text NOT NULL,
  model text COLLATE "C" NOT NULL,
  model_sha256 text COLLATE "C" NOT NULL,
  recordings integer NOT NULL,
  voice_seconds double precision NOT NULL,
  consent_reference clean_text NOT NULL,
  consent_at timestamp with time zone NOT NULL,
  consent_recorded_by text NOT NULL,
  sealed_embedding bytea,
  wrapped_key bytea,
  master_key_id text COLLATE "C" NOT NULL,
  enrolled_at timestamp with time zone NOT NULL DEFAULT now(),
  deleted_at timestamp with time zone,
  deleted_why text
);

-- table voiceprint_event
CREATE TABLE voiceprint_event (
  event_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  voiceprint_id bigint NOT NULL,
  action text COLLATE "C" NOT NULL,
  actor text NOT NULL,
  reason text NOT NULL
);

-- table webhook_delivery
CREATE TABLE webhook_delivery (
  delivery_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  event_id bigint NOT NULL,
  endpoint_id bigint NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'pending'::text,
  attempts integer NOT NULL DEFAULT 0,
  replays integer NOT NULL DEFAULT 0,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  first_attempt_at timestamp with time zone,
  last_attempt_at timestamp with time zone,
  next_attempt_at timestamp with time zone DEFAULT clock_timestamp(),
  answer_status integer,
  failure text COLLATE "C"
);

-- table webhook_endpoint
CREATE TABLE webhook_endpoint (
  endpoint_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  name text COLLATE "C" NOT NULL,
  url text NOT NULL,
  brand_id bigint,
  event_types text[] COLLATE "C" NOT NULL DEFAULT '{}'::text[],
  state text COLLATE "C" NOT NULL DEFAULT 'enabled'::text,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  created_by text NOT NULL,
  disabled_at timestamp with time zone,
  disabled_by text,
  disabled_reason text,
  failing_since timestamp with time zone,
  last_attempt_at timestamp with time zone,
  last_success_at timestamp with time zone
);

-- table webhook_event
CREATE TABLE webhook_event (
  event_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  message_id text COLLATE "C" NOT NULL,
  type text COLLATE "C" NOT NULL,
  brand_id bigint,
  occurred_at timestamp with time zone NOT NULL,
  data jsonb NOT NULL,
  only_endpoint_id bigint
);

-- table webhook_secret
CREATE TABLE webhook_secret (
  secret_id bigint NOT NULL GENERATED ALWAYS AS IDENTITY,
  public_id uuid NOT NULL,
  endpoint_id bigint NOT NULL,
  sealed_secret bytea NOT NULL,
  wrapped_key bytea NOT NULL,
  master_key_id text COLLATE "C" NOT NULL,
  created_at timestamp with time zone NOT NULL DEFAULT clock_timestamp(),
  ends_at timestamp with time zone
);

-- constraint added_model.added_model_added_by_check
ALTER TABLE added_model ADD CONSTRAINT added_model_added_by_check CHECK ((added_by ~ '\S'::text));

-- constraint added_model.added_model_family_check
ALTER TABLE added_model ADD CONSTRAINT added_model_family_check CHECK ((family = ANY (ARRAY['phone'::text, 'digital'::text])));

-- constraint added_model.added_model_manifest_sha256_check
ALTER TABLE added_model ADD CONSTRAINT added_model_manifest_sha256_check CHECK ((manifest_sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint added_model.added_model_model_check
ALTER TABLE added_model ADD CONSTRAINT added_model_model_check CHECK ((model ~ '^[a-z]+/v[0-9a-z.-]{1,40}$'::text));

-- constraint added_model.added_model_pkey
ALTER TABLE added_model ADD CONSTRAINT added_model_pkey PRIMARY KEY (model);

-- constraint added_model.added_model_reason_check
ALTER TABLE added_model ADD CONSTRAINT added_model_reason_check CHECK ((reason ~ '\S'::text));

-- constraint added_model.added_model_weights_sha256_check
ALTER TABLE added_model ADD CONSTRAINT added_model_weights_sha256_check CHECK ((weights_sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint api_key.api_key_client_check
ALTER TABLE api_key ADD CONSTRAINT api_key_client_check CHECK ((client ~ '\S'::text));

-- constraint api_key.api_key_key_hash_check
ALTER TABLE api_key ADD CONSTRAINT api_key_key_hash_check CHECK ((octet_length(key_hash) = 32));

-- constraint api_key.api_key_key_hash_key
ALTER TABLE api_key ADD CONSTRAINT api_key_key_hash_key UNIQUE (key_hash);

-- constraint api_key.api_key_key_id_check
ALTER TABLE api_key ADD CONSTRAINT api_key_key_id_check CHECK ((key_id ~ '^[a-z0-9]{12}$'::text));

-- constraint api_key.api_key_pkey
ALTER TABLE api_key ADD CONSTRAINT api_key_pkey PRIMARY KEY (key_id);

-- constraint api_key.api_key_scopes_check
ALTER TABLE api_key ADD CONSTRAINT api_key_scopes_check CHECK ((cardinality(scopes) > 0));

-- constraint artefact_version.artefact_version_build_id_fkey
ALTER TABLE artefact_version ADD CONSTRAINT artefact_version_build_id_fkey FOREIGN KEY (build_id) REFERENCES build(build_id);

-- constraint artefact_version.artefact_version_pkey
ALTER TABLE artefact_version ADD CONSTRAINT artefact_version_pkey PRIMARY KEY (cache, country, version);

-- constraint artefact_version.artefact_version_version_check
ALTER TABLE artefact_version ADD CONSTRAINT artefact_version_version_check CHECK ((version > 0));

-- constraint brand.brand_approved_has_revision
ALTER TABLE brand ADD CONSTRAINT brand_approved_has_revision CHECK (((state <> ALL (ARRAY['approved'::text, 'suspended'::text, 'expired'::text])) OR (approved_revision IS NOT NULL)));

-- constraint brand.brand_handle_check
ALTER TABLE brand ADD CONSTRAINT brand_handle_check CHECK ((handle ~ '^[a-z0-9](-?[a-z0-9]){1,62}$'::text));

-- constraint brand.brand_handle_key
ALTER TABLE brand ADD CONSTRAINT brand_handle_key UNIQUE (handle);

-- constraint brand.brand_pkey
ALTER TABLE brand ADD CONSTRAINT brand_pkey PRIMARY KEY (brand_id);

-- constraint brand.brand_state_check
ALTER TABLE brand ADD CONSTRAINT brand_state_check CHECK ((state = ANY (ARRAY['draft'::text, 'submitted'::text, 'in_review'::text, 'approved'::text, 'rejected'::text, 'suspended'::text, 'expired'::text, 'withdrawn'::text])));

-- constraint brand_number.brand_number_brand_id_fkey
ALTER TABLE brand_number ADD CONSTRAINT brand_number_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brand(brand_id);

-- constraint brand_number.brand_number_call_reason_check
ALTER TABLE brand_number ADD CONSTRAINT brand_number_call_reason_check CHECK ((char_length((call_reason)::text) <= 50));

-- constraint brand_number.brand_number_pkey
ALTER TABLE brand_number ADD CONSTRAINT brand_number_pkey PRIMARY KEY (brand_id, phone);

-- constraint brand_number.brand_number_state_check
ALTER TABLE brand_number ADD CONSTRAINT brand_number_state_check CHECK ((state = ANY (ARRAY['submitted'::text, 'in_review'::text, 'verified'::text, 'unsuccessful'::text, 'permanently_rejected'::text, 'suspended'::text, 'expired'::text, 'removed'::text])));

-- constraint brand_revision.brand_revision_brand_id_fkey
ALTER TABLE brand_revision ADD CONSTRAINT brand_revision_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brand(brand_id);

-- constraint brand_revision.brand_revision_display_name_check
ALTER TABLE brand_revision ADD CONSTRAINT brand_revision_display_name_check CHECK ((char_length((display_name)::text) <= 32));

-- constraint brand_revision.brand_revision_operation_id_fkey
ALTER TABLE brand_revision ADD CONSTRAINT brand_revision_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES branding_operation(operation_id);

-- constraint brand_revision.brand_revision_pkey
ALTER TABLE brand_revision ADD CONSTRAINT brand_revision_pkey PRIMARY KEY (brand_id, revision);

-- constraint brand_revision.brand_revision_revision_check
ALTER TABLE brand_revision ADD CONSTRAINT brand_revision_revision_check CHECK ((revision > 0));

-- constraint branded_number.branded_number_display_fits
ALTER TABLE branded_number ADD CONSTRAINT branded_number_display_fits CHECK (((octet_length((display_name)::text) <= 128) AND (octet_length((display_description)::text) <= 512) AND (octet_length((display_detail)::text) <= 1024) AND (octet_length((display_image)::text) <= 512)));

-- constraint branded_number.branded_number_interval
ALTER TABLE branded_number ADD CONSTRAINT branded_number_interval CHECK (((live_until IS NULL) OR (live_until > live_from)));

-- constraint branded_number.branded_number_pkey
ALTER TABLE branded_number ADD CONSTRAINT branded_number_pkey PRIMARY KEY (phone);

-- constraint branding_event.branding_event_actor_check
ALTER TABLE branding_event ADD CONSTRAINT branding_event_actor_check CHECK ((actor ~ '\S'::text));

-- constraint branding_event.branding_event_pkey
ALTER TABLE branding_event ADD CONSTRAINT branding_event_pkey PRIMARY KEY (event_id);

-- constraint branding_event.branding_event_reason_check
ALTER TABLE branding_event ADD CONSTRAINT branding_event_reason_check CHECK ((reason ~ '\S'::text));

-- constraint branding_event.branding_event_revision
ALTER TABLE branding_event ADD CONSTRAINT branding_event_revision TRIGGER DEFERRABLE INITIALLY DEFERRED;

-- constraint branding_event.branding_event_subject
ALTER TABLE branding_event ADD CONSTRAINT branding_event_subject CHECK ((((subject = 'letter'::text) = (letter_id IS NOT NULL)) AND ((subject = 'number'::text) = (phone IS NOT NULL))));

-- constraint branding_event.branding_event_subject_check
ALTER TABLE branding_event ADD CONSTRAINT branding_event_subject_check CHECK ((subject = ANY (ARRAY['brand'::text, 'letter'::text, 'number'::text])));

-- constraint branding_operation.branding_operation_ended
ALTER TABLE branding_operation ADD CONSTRAINT branding_operation_ended CHECK ((((state = 'queued'::text) = (finished_at IS NULL)) AND ((state = 'done'::text) = (result IS NOT NULL)) AND ((state = 'failed'::text) = (failure_code IS NOT NULL))));

-- constraint branding_operation.branding_operation_idempotency_key_check
ALTER TABLE branding_operation ADD CONSTRAINT branding_operation_idempotency_key_check CHECK ((idempotency_key ~ '^[!-~]{1,128}$'::text));

-- constraint branding_operation.branding_operation_kind_check
ALTER TABLE branding_operation ADD CONSTRAINT branding_operation_kind_check CHECK ((kind = ANY (ARRAY['add_managed_brand'::text, 'update_managed_brand'::text, 'add_phone_number'::text])));

-- constraint branding_operation.branding_operation_letter_document_id_fkey
ALTER TABLE branding_operation ADD CONSTRAINT branding_operation_letter_document_id_fkey FOREIGN KEY (letter_document_id) REFERENCES document(document_id);

-- constraint branding_operation.branding_operation_numbers_document_id_fkey
ALTER TABLE branding_operation ADD CONSTRAINT branding_operation_numbers_document_id_fkey FOREIGN KEY (numbers_document_id) REFERENCES document(document_id);

-- constraint branding_operation.branding_operation_owner_idempotency_key_key
ALTER TABLE branding_operation ADD CONSTRAINT branding_operation_owner_idempotency_key_key UNIQUE (owner, idempotency_key);

-- constraint branding_operation.branding_operation_pkey
ALTER TABLE branding_operation ADD CONSTRAINT branding_operation_pkey PRIMARY KEY (operation_id);

-- constraint branding_operation.branding_operation_request_sha256_check
ALTER TABLE branding_operation ADD CONSTRAINT branding_operation_request_sha256_check CHECK ((request_sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint branding_operation.branding_operation_state_check
ALTER TABLE branding_operation ADD CONSTRAINT branding_operation_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'done'::text, 'failed'::text])));

-- constraint branding_operation.branding_operation_submitted_by_check
ALTER TABLE branding_operation ADD CONSTRAINT branding_operation_submitted_by_check CHECK ((submitted_by ~ '\S'::text));

-- constraint branding_operation_row.branding_operation_row_line_check
ALTER TABLE branding_operation_row ADD CONSTRAINT branding_operation_row_line_check CHECK ((line > 0));

-- constraint branding_operation_row.branding_operation_row_operation_id_fkey
ALTER TABLE branding_operation_row ADD CONSTRAINT branding_operation_row_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES branding_operation(operation_id) ON DELETE CASCADE;

-- constraint branding_operation_row.branding_operation_row_pkey
ALTER TABLE branding_operation_row ADD CONSTRAINT branding_operation_row_pkey PRIMARY KEY (operation_id, line);

-- constraint build.build_has_facts
ALTER TABLE build ADD CONSTRAINT build_has_facts CHECK (((state <> ALL (ARRAY['built'::text, 'published'::text, 'unchanged'::text])) OR (facts IS NOT NULL)));

-- constraint build.build_pkey
ALTER TABLE build ADD CONSTRAINT build_pkey PRIMARY KEY (build_id);

-- constraint build.build_run_id_fkey
ALTER TABLE build ADD CONSTRAINT build_run_id_fkey FOREIGN KEY (run_id) REFERENCES night_run(run_id);

-- constraint build.build_run_id_generation_cache_country_key
ALTER TABLE build ADD CONSTRAINT build_run_id_generation_cache_country_key UNIQUE (run_id, generation, cache, country);

-- constraint build.build_state_check
ALTER TABLE build ADD CONSTRAINT build_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'running'::text, 'built'::text, 'published'::text, 'unchanged'::text, 'failed'::text])));

-- constraint complaint.complaint_load_id_fkey
ALTER TABLE complaint ADD CONSTRAINT complaint_load_id_fkey FOREIGN KEY (load_id) REFERENCES feed_load(load_id);

-- constraint complaint.complaint_once
ALTER TABLE complaint ADD CONSTRAINT complaint_once UNIQUE NULLS NOT DISTINCT (phone, reported_at, violated_at, consumer_state, subject, recorded, occurrence);

-- constraint complaint.complaint_pkey
ALTER TABLE complaint ADD CONSTRAINT complaint_pkey PRIMARY KEY (complaint_id);

-- constraint complaint_day.complaint_day_complaints_check
ALTER TABLE complaint_day ADD CONSTRAINT complaint_day_complaints_check CHECK ((complaints > 0));

-- constraint complaint_day.complaint_day_load_id_fkey
ALTER TABLE complaint_day ADD CONSTRAINT complaint_day_load_id_fkey FOREIGN KEY (load_id) REFERENCES feed_load(load_id);

-- constraint complaint_day.complaint_day_pkey
ALTER TABLE complaint_day ADD CONSTRAINT complaint_day_pkey PRIMARY KEY (load_id, day);

-- constraint complaint_score.complaint_score_category_fkey
ALTER TABLE complaint_score ADD CONSTRAINT complaint_score_category_fkey FOREIGN KEY (category) REFERENCES reputation_category(category);

-- constraint complaint_score.complaint_score_pkey
ALTER TABLE complaint_score ADD CONSTRAINT complaint_score_pkey PRIMARY KEY (phone);

-- constraint complaint_subject.complaint_subject_category_fkey
ALTER TABLE complaint_subject ADD CONSTRAINT complaint_subject_category_fkey FOREIGN KEY (category) REFERENCES reputation_category(category);

-- constraint complaint_subject.complaint_subject_pkey
ALTER TABLE complaint_subject ADD CONSTRAINT complaint_subject_pkey PRIMARY KEY (subject);

-- constraint complaint_subject.complaint_subject_subject_check
ALTER TABLE complaint_subject ADD CONSTRAINT complaint_subject_subject_check CHECK (((subject = lower(subject)) AND (subject !~ '  '::text)));

-- constraint console_event.console_event_actor_check
ALTER TABLE console_event ADD CONSTRAINT console_event_actor_check CHECK ((actor ~ '\S'::text));

-- constraint console_event.console_event_pkey
ALTER TABLE console_event ADD CONSTRAINT console_event_pkey PRIMARY KEY (event_id);

-- constraint console_session.console_session_pkey
ALTER TABLE console_session ADD CONSTRAINT console_session_pkey PRIMARY KEY (session_hash);

-- constraint console_session.console_session_session_hash_check
ALTER TABLE console_session ADD CONSTRAINT console_session_session_hash_check CHECK ((octet_length(session_hash) = 32));

-- constraint console_session.console_session_user_id_fkey
ALTER TABLE console_session ADD CONSTRAINT console_session_user_id_fkey FOREIGN KEY (user_id) REFERENCES console_user(user_id) ON DELETE CASCADE;

-- constraint console_user.console_user_name_check
ALTER TABLE console_user ADD CONSTRAINT console_user_name_check CHECK ((name ~ '^[a-z0-9][a-z0-9._-]{0,39}$'::text));

-- constraint console_user.console_user_name_key
ALTER TABLE console_user ADD CONSTRAINT console_user_name_key UNIQUE (name);

-- constraint console_user.console_user_pkey
ALTER TABLE console_user ADD CONSTRAINT console_user_pkey PRIMARY KEY (user_id);

-- constraint console_user.console_user_role_check
ALTER TABLE console_user ADD CONSTRAINT console_user_role_check CHECK ((role = ANY (ARRAY['viewer'::text, 'reviewer'::text, 'operator'::text, 'agency'::text])));

-- constraint console_user_owner.console_user_owner_pkey
ALTER TABLE console_user_owner ADD CONSTRAINT console_user_owner_pkey PRIMARY KEY (user_id, owner);

-- constraint console_user_owner.console_user_owner_user_id_fkey
ALTER TABLE console_user_owner ADD CONSTRAINT console_user_owner_user_id_fkey FOREIGN KEY (user_id) REFERENCES console_user(user_id) ON DELETE CASCADE;

-- constraint document.document_bytes_check
ALTER TABLE document ADD CONSTRAINT document_bytes_check CHECK ((bytes >= 0));

-- constraint document.document_destroyed
ALTER TABLE document ADD CONSTRAINT document_destroyed CHECK (
CASE
    WHEN (destroyed_at IS NULL) THEN ((wrapped_key IS NOT NULL) AND (sealed_content IS NOT NULL))
    ELSE ((wrapped_key IS NULL) AND (sealed_content IS NULL) AND (sealed_reading IS NULL) AND (destroyed_why ~ '\S'::text))
END);

-- constraint document.document_kind_check
ALTER TABLE document ADD CONSTRAINT document_kind_check CHECK ((kind = ANY (ARRAY['letter'::text, 'numbers'::text])));

-- constraint document.document_pkey
ALTER TABLE document ADD CONSTRAINT document_pkey PRIMARY KEY (document_id);

-- constraint document.document_sha256_check
ALTER TABLE document ADD CONSTRAINT document_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint drift_report.drift_report_batch_id_fkey
ALTER TABLE drift_report ADD CONSTRAINT drift_report_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES verification_batch(batch_id);

-- constraint drift_report.drift_report_items_check
ALTER TABLE drift_report ADD CONSTRAINT drift_report_items_check CHECK ((items >= 0));

-- constraint drift_report.drift_report_pkey
ALTER TABLE drift_report ADD CONSTRAINT drift_report_pkey PRIMARY KEY (report_id);

-- constraint feed_load.feed_load_adds_up
ALTER TABLE feed_load ADD CONSTRAINT feed_load_adds_up CHECK (((state <> 'done'::text) OR ((rows_accepted + rows_rejected) = rows_given)));

-- constraint feed_load.feed_load_date_form_check
ALTER TABLE feed_load ADD CONSTRAINT feed_load_date_form_check CHECK ((date_form = ANY (ARRAY['mdy'::text, 'dmy'::text, 'serial'::text])));

-- constraint feed_load.feed_load_decided
ALTER TABLE feed_load ADD CONSTRAINT feed_load_decided CHECK ((((decision IS NULL) = (decided_at IS NULL)) AND ((decision IS NULL) = (decided_by IS NULL)) AND ((decision IS NULL) = (decided_reason IS NULL))));

-- constraint feed_load.feed_load_decided_reason_check
ALTER TABLE feed_load ADD CONSTRAINT feed_load_decided_reason_check CHECK ((decided_reason ~ '\S'::text));

-- constraint feed_load.feed_load_decision_check
ALTER TABLE feed_load ADD CONSTRAINT feed_load_decision_check CHECK ((decision = ANY (ARRAY['release'::text, 'discard'::text])));

-- constraint feed_load.feed_load_feed_check
ALTER TABLE feed_load ADD CONSTRAINT feed_load_feed_check CHECK ((feed = ANY (ARRAY['reputation'::text, 'directory'::text, 'complaints'::text])));

-- constraint feed_load.feed_load_file_bytes_check
ALTER TABLE feed_load ADD CONSTRAINT feed_load_file_bytes_check CHECK ((file_bytes >= 0));

-- constraint feed_load.feed_load_file_sha256_check
ALTER TABLE feed_load ADD CONSTRAINT feed_load_file_sha256_check CHECK ((file_sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint feed_load.feed_load_held_by
ALTER TABLE feed_load ADD CONSTRAINT feed_load_held_by CHECK (((state <> 'held'::text) OR (gates <> '[]'::jsonb)));

-- constraint feed_load.feed_load_pkey
ALTER TABLE feed_load ADD CONSTRAINT feed_load_pkey PRIMARY KEY (load_id);

-- constraint feed_load.feed_load_state_check
ALTER TABLE feed_load ADD CONSTRAINT feed_load_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'running'::text, 'held'::text, 'done'::text, 'failed'::text, 'discarded'::text])));

-- constraint feed_reject.feed_reject_line_number_check
ALTER TABLE feed_reject ADD CONSTRAINT feed_reject_line_number_check CHECK ((line_number > 0));

-- constraint feed_reject.feed_reject_load_id_fkey
ALTER TABLE feed_reject ADD CONSTRAINT feed_reject_load_id_fkey FOREIGN KEY (load_id) REFERENCES feed_load(load_id) ON DELETE CASCADE;

-- constraint feed_reject.feed_reject_pkey
ALTER TABLE feed_reject ADD CONSTRAINT feed_reject_pkey PRIMARY KEY (load_id, line_number);

-- constraint intake_request.intake_request_client_idempotency_key_key
ALTER TABLE intake_request ADD CONSTRAINT intake_request_client_idempotency_key_key UNIQUE (client, idempotency_key);

-- constraint intake_request.intake_request_idempotency_key_check
ALTER TABLE intake_request ADD CONSTRAINT intake_request_idempotency_key_check CHECK ((idempotency_key ~ '^[!-~]{1,128}$'::text));

-- constraint intake_request.intake_request_kind_check
ALTER TABLE intake_request ADD CONSTRAINT intake_request_kind_check CHECK ((kind = ANY (ARRAY['batch'::text, 'branding'::text, 'load'::text, 'dispute'::text])));

-- constraint intake_request.intake_request_pkey
ALTER TABLE intake_request ADD CONSTRAINT intake_request_pkey PRIMARY KEY (request_id);

-- constraint intake_request.intake_request_request_sha256_check
ALTER TABLE intake_request ADD CONSTRAINT intake_request_request_sha256_check CHECK ((request_sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint issued_form.issued_form_brand_id_fkey
ALTER TABLE issued_form ADD CONSTRAINT issued_form_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brand(brand_id);

-- constraint issued_form.issued_form_bytes_check
ALTER TABLE issued_form ADD CONSTRAINT issued_form_bytes_check CHECK ((bytes > 0));

-- constraint issued_form.issued_form_check
ALTER TABLE issued_form ADD CONSTRAINT issued_form_check CHECK ((valid_until > issued_at));

-- constraint issued_form.issued_form_code_check
ALTER TABLE issued_form ADD CONSTRAINT issued_form_code_check CHECK ((code ~ '^[A-Z2-7]{26}$'::text));

-- constraint issued_form.issued_form_code_key
ALTER TABLE issued_form ADD CONSTRAINT issued_form_code_key UNIQUE (code);

-- constraint issued_form.issued_form_language_check
ALTER TABLE issued_form ADD CONSTRAINT issued_form_language_check CHECK ((language ~ '^[a-z]{2}$'::text));

-- constraint issued_form.issued_form_pkey
ALTER TABLE issued_form ADD CONSTRAINT issued_form_pkey PRIMARY KEY (form_id);

-- constraint issued_form.issued_form_revoked
ALTER TABLE issued_form ADD CONSTRAINT issued_form_revoked CHECK ((num_nulls(revoked_at, revoked_by, revoked_reason) = ANY (ARRAY[0, 3])));

-- constraint issued_form.issued_form_sha256_check
ALTER TABLE issued_form ADD CONSTRAINT issued_form_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint issued_form.issued_form_sha256_key
ALTER TABLE issued_form ADD CONSTRAINT issued_form_sha256_key UNIQUE (sha256);

-- constraint label_event.label_event_cause_check
ALTER TABLE label_event ADD CONSTRAINT label_event_cause_check CHECK ((cause = ANY (ARRAY['feed'::text, 'complaints'::text, 'clearing'::text, 'dispute'::text, 'protection'::text, 'removed'::text, 'other'::text])));

-- constraint label_event.label_event_pkey
ALTER TABLE label_event ADD CONSTRAINT label_event_pkey PRIMARY KEY (phone, event_id);

-- constraint letter.letter_brand_id_fkey
ALTER TABLE letter ADD CONSTRAINT letter_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brand(brand_id);

-- constraint letter.letter_brand_id_revision_fkey
ALTER TABLE letter ADD CONSTRAINT letter_brand_id_revision_fkey FOREIGN KEY (brand_id, revision) REFERENCES brand_revision(brand_id, revision);

-- constraint letter.letter_document_id_fkey
ALTER TABLE letter ADD CONSTRAINT letter_document_id_fkey FOREIGN KEY (document_id) REFERENCES document(document_id);

-- constraint letter.letter_form_id_fkey
ALTER TABLE letter ADD CONSTRAINT letter_form_id_fkey FOREIGN KEY (form_id) REFERENCES issued_form(form_id);

-- constraint letter.letter_operation_id_fkey
ALTER TABLE letter ADD CONSTRAINT letter_operation_id_fkey FOREIGN KEY (operation_id) REFERENCES branding_operation(operation_id);

-- constraint letter.letter_operation_id_key
ALTER TABLE letter ADD CONSTRAINT letter_operation_id_key UNIQUE (operation_id);

-- constraint letter.letter_pkey
ALTER TABLE letter ADD CONSTRAINT letter_pkey PRIMARY KEY (letter_id);

-- constraint letter.letter_state_check
ALTER TABLE letter ADD CONSTRAINT letter_state_check CHECK ((state = ANY (ARRAY['submitted'::text, 'in_review'::text, 'approved'::text, 'rejected'::text, 'expiring'::text, 'expired'::text, 'withdrawn'::text])));

-- constraint letter.letter_valid
ALTER TABLE letter ADD CONSTRAINT letter_valid CHECK (((state = ANY (ARRAY['approved'::text, 'expiring'::text, 'expired'::text])) <= ((valid_from IS NOT NULL) AND (valid_until IS NOT NULL) AND (valid_from < valid_until))));

-- constraint letter_finding.letter_finding_letter_id_fkey
ALTER TABLE letter_finding ADD CONSTRAINT letter_finding_letter_id_fkey FOREIGN KEY (letter_id) REFERENCES letter(letter_id);

-- constraint letter_finding.letter_finding_pkey
ALTER TABLE letter_finding ADD CONSTRAINT letter_finding_pkey PRIMARY KEY (letter_id, "position");

-- constraint letter_finding.letter_finding_severity_check
ALTER TABLE letter_finding ADD CONSTRAINT letter_finding_severity_check CHECK ((severity = ANY (ARRAY['pass'::text, 'note'::text, 'review'::text, 'reject'::text])));

-- constraint letter_number.letter_number_letter_id_fkey
ALTER TABLE letter_number ADD CONSTRAINT letter_number_letter_id_fkey FOREIGN KEY (letter_id) REFERENCES letter(letter_id);

-- constraint letter_number.letter_number_pkey
ALTER TABLE letter_number ADD CONSTRAINT letter_number_pkey PRIMARY KEY (letter_id, phone);

-- constraint model_default.model_default_family_check
ALTER TABLE model_default ADD CONSTRAINT model_default_family_check CHECK ((family = ANY (ARRAY['phone'::text, 'digital'::text])));

-- constraint model_default.model_default_pkey
ALTER TABLE model_default ADD CONSTRAINT model_default_pkey PRIMARY KEY (default_id);

-- constraint model_default.model_default_reason_check
ALTER TABLE model_default ADD CONSTRAINT model_default_reason_check CHECK ((reason ~ '\S'::text));

-- constraint model_default.model_default_report_id_fkey
ALTER TABLE model_default ADD CONSTRAINT model_default_report_id_fkey FOREIGN KEY (report_id) REFERENCES drift_report(report_id);

-- constraint model_default.model_default_reported
ALTER TABLE model_default ADD CONSTRAINT model_default_reported CHECK ((forced OR (report_id IS NOT NULL)));

-- constraint model_default.model_default_set_by_check
ALTER TABLE model_default ADD CONSTRAINT model_default_set_by_check CHECK ((set_by ~ '\S'::text));

-- constraint night_release.night_release_build_id_fkey
ALTER TABLE night_release ADD CONSTRAINT night_release_build_id_fkey FOREIGN KEY (build_id) REFERENCES build(build_id);

-- constraint night_release.night_release_pkey
ALTER TABLE night_release ADD CONSTRAINT night_release_pkey PRIMARY KEY (release_id);

-- constraint night_release.night_release_reason_check
ALTER TABLE night_release ADD CONSTRAINT night_release_reason_check CHECK ((reason ~ '\S'::text));

-- constraint night_release.night_release_used_by_build_id_fkey
ALTER TABLE night_release ADD CONSTRAINT night_release_used_by_build_id_fkey FOREIGN KEY (used_by_build_id) REFERENCES build(build_id);

-- constraint night_run.night_run_announced
ALTER TABLE night_run ADD CONSTRAINT night_run_announced TRIGGER DEFERRABLE INITIALLY DEFERRED;

-- constraint night_run.night_run_finished
ALTER TABLE night_run ADD CONSTRAINT night_run_finished CHECK (((state = 'finished'::text) = (outcome IS NOT NULL)));

-- constraint night_run.night_run_idempotency_key_check
ALTER TABLE night_run ADD CONSTRAINT night_run_idempotency_key_check CHECK ((idempotency_key ~ '^[!-~]{1,128}$'::text));

-- constraint night_run.night_run_key_has_request
ALTER TABLE night_run ADD CONSTRAINT night_run_key_has_request CHECK (((idempotency_key IS NULL) = (request_sha256 IS NULL)));

-- constraint night_run.night_run_outcome_check
ALTER TABLE night_run ADD CONSTRAINT night_run_outcome_check CHECK ((outcome = ANY (ARRAY['ok'::text, 'partial'::text, 'failed'::text])));

-- constraint night_run.night_run_pkey
ALTER TABLE night_run ADD CONSTRAINT night_run_pkey PRIMARY KEY (run_id);

-- constraint night_run.night_run_request_sha256_check
ALTER TABLE night_run ADD CONSTRAINT night_run_request_sha256_check CHECK ((request_sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint night_run.night_run_state_check
ALTER TABLE night_run ADD CONSTRAINT night_run_state_check CHECK ((state = ANY (ARRAY['due'::text, 'running'::text, 'finished'::text])));

-- constraint night_run.night_run_trigger_check
ALTER TABLE night_run ADD CONSTRAINT night_run_trigger_check CHECK ((trigger = ANY (ARRAY['schedule'::text, 'operator'::text])));

-- constraint number_dispute.number_dispute_contact
ALTER TABLE number_dispute ADD CONSTRAINT number_dispute_contact CHECK ((((sealed_contact IS NULL) = (wrapped_key IS NULL)) AND ((sealed_contact IS NULL) = (master_key_id IS NULL))));

-- constraint number_dispute.number_dispute_decided
ALTER TABLE number_dispute ADD CONSTRAINT number_dispute_decided CHECK ((((state = 'open'::text) = (decided_at IS NULL)) AND ((state = 'open'::text) = (decided_by IS NULL)) AND ((state = 'open'::text) = (decision_reason IS NULL)) AND ((state = 'cleared'::text) = (redress_id IS NOT NULL))));

-- constraint number_dispute.number_dispute_filed_by_check
ALTER TABLE number_dispute ADD CONSTRAINT number_dispute_filed_by_check CHECK ((filed_by ~ '\S'::text));

-- constraint number_dispute.number_dispute_filed_by_idempotency_key_key
ALTER TABLE number_dispute ADD CONSTRAINT number_dispute_filed_by_idempotency_key_key UNIQUE (filed_by, idempotency_key);

-- constraint number_dispute.number_dispute_idempotency_key_check
ALTER TABLE number_dispute ADD CONSTRAINT number_dispute_idempotency_key_check CHECK ((idempotency_key ~ '^[!-~]{1,128}$'::text));

-- constraint number_dispute.number_dispute_pkey
ALTER TABLE number_dispute ADD CONSTRAINT number_dispute_pkey PRIMARY KEY (dispute_id);

-- constraint number_dispute.number_dispute_reason_check
ALTER TABLE number_dispute ADD CONSTRAINT number_dispute_reason_check CHECK ((reason ~ '\S'::text));

-- constraint number_dispute.number_dispute_redress_id_fkey
ALTER TABLE number_dispute ADD CONSTRAINT number_dispute_redress_id_fkey FOREIGN KEY (redress_id) REFERENCES redress(redress_id);

-- constraint number_dispute.number_dispute_request_sha256_check
ALTER TABLE number_dispute ADD CONSTRAINT number_dispute_request_sha256_check CHECK ((request_sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint number_dispute.number_dispute_state_check
ALTER TABLE number_dispute ADD CONSTRAINT number_dispute_state_check CHECK ((state = ANY (ARRAY['open'::text, 'cleared'::text, 'upheld'::text])));

-- constraint number_proof.number_proof_brand_id_fkey
ALTER TABLE number_proof ADD CONSTRAINT number_proof_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brand(brand_id);

-- constraint number_proof.number_proof_ended
ALTER TABLE number_proof ADD CONSTRAINT number_proof_ended CHECK ((((state = 'open'::text) = (ended_at IS NULL)) AND ((state = 'failed'::text) = (failure_code IS NOT NULL)) AND ((state = 'proven'::text) = (valid_until IS NOT NULL))));

-- constraint number_proof.number_proof_language_check
ALTER TABLE number_proof ADD CONSTRAINT number_proof_language_check CHECK ((language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'::text));

-- constraint number_proof.number_proof_pkey
ALTER TABLE number_proof ADD CONSTRAINT number_proof_pkey PRIMARY KEY (proof_id);

-- constraint number_proof.number_proof_requested_by_check
ALTER TABLE number_proof ADD CONSTRAINT number_proof_requested_by_check CHECK ((requested_by ~ '\S'::text));

-- constraint number_proof.number_proof_state_check
ALTER TABLE number_proof ADD CONSTRAINT number_proof_state_check CHECK ((state = ANY (ARRAY['open'::text, 'proven'::text, 'failed'::text])));

-- constraint number_proof_call.number_proof_call_code
ALTER TABLE number_proof_call ADD CONSTRAINT number_proof_call_code CHECK ((((code_hash IS NULL) = (expires_at IS NULL)) AND ((placed_at IS NULL) OR (code_hash IS NOT NULL))));

-- constraint number_proof_call.number_proof_call_code_hash_check
ALTER TABLE number_proof_call ADD CONSTRAINT number_proof_call_code_hash_check CHECK ((octet_length(code_hash) = 32));

-- constraint number_proof_call.number_proof_call_pkey
ALTER TABLE number_proof_call ADD CONSTRAINT number_proof_call_pkey PRIMARY KEY (call_id);

-- constraint number_proof_call.number_proof_call_proof_id_fkey
ALTER TABLE number_proof_call ADD CONSTRAINT number_proof_call_proof_id_fkey FOREIGN KEY (proof_id) REFERENCES number_proof(proof_id);

-- constraint number_proof_call.number_proof_call_proof_id_phone_key
ALTER TABLE number_proof_call ADD CONSTRAINT number_proof_call_proof_id_phone_key UNIQUE (proof_id, phone);

-- constraint number_proof_call.number_proof_call_tries_check
ALTER TABLE number_proof_call ADD CONSTRAINT number_proof_call_tries_check CHECK ((tries >= 0));

-- constraint number_proof_member.number_proof_member_pkey
ALTER TABLE number_proof_member ADD CONSTRAINT number_proof_member_pkey PRIMARY KEY (proof_id, phone);

-- constraint number_proof_member.number_proof_member_proof_id_fkey
ALTER TABLE number_proof_member ADD CONSTRAINT number_proof_member_proof_id_fkey FOREIGN KEY (proof_id) REFERENCES number_proof(proof_id);

-- constraint phone_number.phone_number_category_fits
ALTER TABLE phone_number ADD CONSTRAINT phone_number_category_fits CHECK (((reputation_category IS NULL) OR (((reputation_level)::text = 'SPAM'::text) AND (reputation_category = ANY (ARRAY[1, 2, 3, 4, 5, 6, 10]))) OR (((reputation_level)::text = 'FRAUD'::text) AND (reputation_category = ANY (ARRAY[7, 8, 9, 11, 12, 13, 14, 15])))));

-- constraint phone_number.phone_number_display_fits
ALTER TABLE phone_number ADD CONSTRAINT phone_number_display_fits CHECK (((octet_length((display_name)::text) <= 128) AND (octet_length((display_description)::text) <= 512) AND (octet_length((display_detail)::text) <= 1024) AND (octet_length((display_image)::text) <= 512)));

-- constraint phone_number.phone_number_pkey
ALTER TABLE phone_number ADD CONSTRAINT phone_number_pkey PRIMARY KEY (phone);

-- constraint phone_number.phone_number_reputation_source_check
ALTER TABLE phone_number ADD CONSTRAINT phone_number_reputation_source_check CHECK ((reputation_source = ANY (ARRAY['feed'::text, 'complaints'::text, 'redress'::text])));

-- constraint protected_name.protected_name_added_by_check
ALTER TABLE protected_name ADD CONSTRAINT protected_name_added_by_check CHECK ((added_by ~ '\S'::text));

-- constraint protected_name.protected_name_category_check
ALTER TABLE protected_name ADD CONSTRAINT protected_name_category_check CHECK ((category ~ '^[a-z]+$'::text));

-- constraint protected_name.protected_name_country_check
ALTER TABLE protected_name ADD CONSTRAINT protected_name_country_check CHECK ((country ~ '^[A-Z]{2}$'::text));

-- constraint protected_name.protected_name_folded_check
ALTER TABLE protected_name ADD CONSTRAINT protected_name_folded_check CHECK ((folded <> ''::text));

-- constraint protected_name.protected_name_pkey
ALTER TABLE protected_name ADD CONSTRAINT protected_name_pkey PRIMARY KEY (protected_name_id);

-- constraint protected_name.protected_name_reason_check
ALTER TABLE protected_name ADD CONSTRAINT protected_name_reason_check CHECK ((reason ~ '\S'::text));

-- constraint protected_name.protected_name_removed
ALTER TABLE protected_name ADD CONSTRAINT protected_name_removed CHECK ((((removed_at IS NULL) = (removed_by IS NULL)) AND ((removed_at IS NULL) = (removed_reason IS NULL))));

-- constraint protected_name.protected_name_removed_by_check
ALTER TABLE protected_name ADD CONSTRAINT protected_name_removed_by_check CHECK ((removed_by ~ '\S'::text));

-- constraint protected_name.protected_name_removed_reason_check
ALTER TABLE protected_name ADD CONSTRAINT protected_name_removed_reason_check CHECK ((removed_reason ~ '\S'::text));

-- constraint protected_number.protected_number_kind_check
ALTER TABLE protected_number ADD CONSTRAINT protected_number_kind_check CHECK ((kind = ANY (ARRAY['number'::text, 'prefix'::text, 'plan'::text])));

-- constraint protected_number.protected_number_pkey
ALTER TABLE protected_number ADD CONSTRAINT protected_number_pkey PRIMARY KEY (protection_id);

-- constraint protected_number.protected_number_reason_check
ALTER TABLE protected_number ADD CONSTRAINT protected_number_reason_check CHECK ((reason ~ '\S'::text));

-- constraint protected_number.protected_number_removed
ALTER TABLE protected_number ADD CONSTRAINT protected_number_removed CHECK ((((removed_at IS NULL) = (removed_by IS NULL)) AND ((removed_at IS NULL) = (removed_reason IS NULL))));

-- constraint protected_number.protected_number_removed_reason_check
ALTER TABLE protected_number ADD CONSTRAINT protected_number_removed_reason_check CHECK ((removed_reason ~ '\S'::text));

-- constraint protected_number.protected_number_value
ALTER TABLE protected_number ADD CONSTRAINT protected_number_value CHECK ((value ~
CASE kind
    WHEN 'number'::text THEN '^\+[1-9][0-9]{7,14}$'::text
    WHEN 'prefix'::text THEN '^\+[1-9][0-9]{2,13}$'::text
    ELSE '^\+[1-9][0-9_]{7,14}$'::text
END));

-- constraint publication.publication_cache_country_version_fkey
ALTER TABLE publication ADD CONSTRAINT publication_cache_country_version_fkey FOREIGN KEY (cache, country, version) REFERENCES artefact_version(cache, country, version);

-- constraint publication.publication_pkey
ALTER TABLE publication ADD CONSTRAINT publication_pkey PRIMARY KEY (cache, country);

-- constraint publication.publication_stale_has_reason
ALTER TABLE publication ADD CONSTRAINT publication_stale_has_reason CHECK (((status = 'stale'::text) = (stale_code IS NOT NULL)));

-- constraint publication.publication_status_check
ALTER TABLE publication ADD CONSTRAINT publication_status_check CHECK ((status = ANY (ARRAY['fresh'::text, 'stale'::text])));

-- constraint recording.recording_bytes_check
ALTER TABLE recording ADD CONSTRAINT recording_bytes_check CHECK ((bytes >= 0));

-- constraint recording.recording_deleted
ALTER TABLE recording ADD CONSTRAINT recording_deleted CHECK (((deleted_at IS NULL) = (deleted_why IS NULL)));

-- constraint recording.recording_pkey
ALTER TABLE recording ADD CONSTRAINT recording_pkey PRIMARY KEY (sha256);

-- constraint recording.recording_sha256_check
ALTER TABLE recording ADD CONSTRAINT recording_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint redress.redress_pkey
ALTER TABLE redress ADD CONSTRAINT redress_pkey PRIMARY KEY (redress_id);

-- constraint redress.redress_reason_check
ALTER TABLE redress ADD CONSTRAINT redress_reason_check CHECK ((reason ~ '\S'::text));

-- constraint reputation_category.reputation_category_category_level_key
ALTER TABLE reputation_category ADD CONSTRAINT reputation_category_category_level_key UNIQUE (category, level);

-- constraint reputation_category.reputation_category_level_check
ALTER TABLE reputation_category ADD CONSTRAINT reputation_category_level_check CHECK (((level)::text <> 'NEUTRAL'::text));

-- constraint reputation_category.reputation_category_name_key
ALTER TABLE reputation_category ADD CONSTRAINT reputation_category_name_key UNIQUE (name);

-- constraint reputation_category.reputation_category_pkey
ALTER TABLE reputation_category ADD CONSTRAINT reputation_category_pkey PRIMARY KEY (category);

-- constraint schema_migration.schema_migration_pkey
ALTER TABLE schema_migration ADD CONSTRAINT schema_migration_pkey PRIMARY KEY (number);

-- constraint scoring_rule.scoring_rule_moved_by_check
ALTER TABLE scoring_rule ADD CONSTRAINT scoring_rule_moved_by_check CHECK ((moved_by ~ '\S'::text));

-- constraint scoring_rule.scoring_rule_pkey
ALTER TABLE scoring_rule ADD CONSTRAINT scoring_rule_pkey PRIMARY KEY (scoring_rule_id);

-- constraint scoring_rule.scoring_rule_reason_check
ALTER TABLE scoring_rule ADD CONSTRAINT scoring_rule_reason_check CHECK ((reason ~ '\S'::text));

-- constraint scoring_run.scoring_run_pkey
ALTER TABLE scoring_run ADD CONSTRAINT scoring_run_pkey PRIMARY KEY (scoring_id);

-- constraint service_secret.service_secret_fingerprint_check
ALTER TABLE service_secret ADD CONSTRAINT service_secret_fingerprint_check CHECK ((octet_length(fingerprint) = 32));

-- constraint service_secret.service_secret_name_check
ALTER TABLE service_secret ADD CONSTRAINT service_secret_name_check CHECK ((name = 'api-key-secret'::text));

-- constraint service_secret.service_secret_pkey
ALTER TABLE service_secret ADD CONSTRAINT service_secret_pkey PRIMARY KEY (name);

-- constraint spam_range.spam_range_lift_check
ALTER TABLE spam_range ADD CONSTRAINT spam_range_lift_check CHECK ((lift > 0));

-- constraint spam_range.spam_range_numbers_reported_check
ALTER TABLE spam_range ADD CONSTRAINT spam_range_numbers_reported_check CHECK ((numbers_reported > 0));

-- constraint spam_range.spam_range_pkey
ALTER TABLE spam_range ADD CONSTRAINT spam_range_pkey PRIMARY KEY (prefix);

-- constraint spam_range.spam_range_prefix_check
ALTER TABLE spam_range ADD CONSTRAINT spam_range_prefix_check CHECK ((prefix ~ '^\+[1-9][0-9]{4,11}$'::text));

-- constraint spam_range.spam_range_risk_check
ALTER TABLE spam_range ADD CONSTRAINT spam_range_risk_check CHECK ((risk = ANY (ARRAY['ELEVATED'::text, 'HIGH'::text, 'SEVERE'::text])));

-- constraint trust_document.trust_document_kind_check
ALTER TABLE trust_document ADD CONSTRAINT trust_document_kind_check CHECK ((kind = ANY (ARRAY['root'::text, 'targets'::text, 'snapshot'::text, 'timestamp'::text, 'manifest'::text])));

-- constraint trust_document.trust_document_pkey
ALTER TABLE trust_document ADD CONSTRAINT trust_document_pkey PRIMARY KEY (name, sha256);

-- constraint trust_document.trust_document_sha256_check
ALTER TABLE trust_document ADD CONSTRAINT trust_document_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint trust_key.trust_key_key_id_check
ALTER TABLE trust_key ADD CONSTRAINT trust_key_key_id_check CHECK ((key_id ~ '^[0-9a-f]{64}$'::text));

-- constraint trust_key.trust_key_key_id_key
ALTER TABLE trust_key ADD CONSTRAINT trust_key_key_id_key UNIQUE (key_id);

-- constraint trust_key.trust_key_pkey
ALTER TABLE trust_key ADD CONSTRAINT trust_key_pkey PRIMARY KEY (trust_key_id);

-- constraint trust_key.trust_key_role_check
ALTER TABLE trust_key ADD CONSTRAINT trust_key_role_check CHECK ((role = ANY (ARRAY['targets'::text, 'snapshot'::text, 'timestamp'::text])));

-- constraint trust_key.trust_key_role_key
ALTER TABLE trust_key ADD CONSTRAINT trust_key_role_key UNIQUE (role);

-- constraint trust_state.trust_state_pkey
ALTER TABLE trust_state ADD CONSTRAINT trust_state_pkey PRIMARY KEY (singleton);

-- constraint trust_state.trust_state_singleton_check
ALTER TABLE trust_state ADD CONSTRAINT trust_state_singleton_check CHECK (singleton);

-- constraint upload.upload_bytes_check
ALTER TABLE upload ADD CONSTRAINT upload_bytes_check CHECK ((bytes > 0));

-- constraint upload.upload_completed
ALTER TABLE upload ADD CONSTRAINT upload_completed CHECK (((completed_at IS NULL) OR (sha256 IS NOT NULL)));

-- constraint upload.upload_kind_check
ALTER TABLE upload ADD CONSTRAINT upload_kind_check CHECK ((kind = ANY (ARRAY['recording'::text, 'letter'::text, 'numbers'::text, 'feed'::text])));

-- constraint upload.upload_pkey
ALTER TABLE upload ADD CONSTRAINT upload_pkey PRIMARY KEY (upload_id);

-- constraint upload.upload_reserved
ALTER TABLE upload ADD CONSTRAINT upload_reserved CHECK (((reserved_bytes >= 0) AND (reserved_bytes <= bytes)));

-- constraint upload.upload_sha256_check
ALTER TABLE upload ADD CONSTRAINT upload_sha256_check CHECK ((sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint verification.verification_attempts_check
ALTER TABLE verification ADD CONSTRAINT verification_attempts_check CHECK ((attempts >= 0));

-- constraint verification.verification_audio_sha256_fkey
ALTER TABLE verification ADD CONSTRAINT verification_audio_sha256_fkey FOREIGN KEY (audio_sha256) REFERENCES recording(sha256);

-- constraint verification.verification_batch_id_fkey
ALTER TABLE verification ADD CONSTRAINT verification_batch_id_fkey FOREIGN KEY (batch_id) REFERENCES verification_batch(batch_id);

-- constraint verification.verification_line_check
ALTER TABLE verification ADD CONSTRAINT verification_line_check CHECK ((line > 0));

-- constraint verification.verification_outcome
ALTER TABLE verification ADD CONSTRAINT verification_outcome CHECK (
CASE state
    WHEN 'performed'::text THEN ((result_id IS NOT NULL) AND (reason IS NULL) AND (ended_at IS NOT NULL))
    WHEN 'performedWithoutScore'::text THEN ((result_id IS NOT NULL) AND (reason IS NOT NULL) AND (ended_at IS NOT NULL))
    WHEN 'error'::text THEN ((result_id IS NULL) AND (reason IS NOT NULL) AND (ended_at IS NOT NULL))
    ELSE ((result_id IS NULL) AND (reason IS NULL) AND (ended_at IS NULL))
END);

-- constraint verification.verification_pkey
ALTER TABLE verification ADD CONSTRAINT verification_pkey PRIMARY KEY (batch_id, line);

-- constraint verification.verification_public_id_key
ALTER TABLE verification ADD CONSTRAINT verification_public_id_key UNIQUE (public_id);

-- constraint verification.verification_result_id_fkey
ALTER TABLE verification ADD CONSTRAINT verification_result_id_fkey FOREIGN KEY (result_id) REFERENCES verification_result(result_id);

-- constraint verification.verification_state_check
ALTER TABLE verification ADD CONSTRAINT verification_state_check CHECK ((state = ANY (ARRAY['queued'::text, 'performing'::text, 'performed'::text, 'performedWithoutScore'::text, 'error'::text])));

-- constraint verification_batch.verification_batch_announced
ALTER TABLE verification_batch ADD CONSTRAINT verification_batch_announced TRIGGER DEFERRABLE INITIALLY DEFERRED;

-- constraint verification_batch.verification_batch_ended
ALTER TABLE verification_batch ADD CONSTRAINT verification_batch_ended CHECK (((state = ANY (ARRAY['done'::text, 'cancelled'::text])) = (ended_at IS NOT NULL)));

-- constraint verification_batch.verification_batch_generation_check
ALTER TABLE verification_batch ADD CONSTRAINT verification_batch_generation_check CHECK ((generation > 0));

-- constraint verification_batch.verification_batch_idempotency_key_check
ALTER TABLE verification_batch ADD CONSTRAINT verification_batch_idempotency_key_check CHECK ((idempotency_key ~ '^[!-~]{1,128}$'::text));

-- constraint verification_batch.verification_batch_items_check
ALTER TABLE verification_batch ADD CONSTRAINT verification_batch_items_check CHECK ((items >= 0));

-- constraint verification_batch.verification_batch_mode_check
ALTER TABLE verification_batch ADD CONSTRAINT verification_batch_mode_check CHECK ((mode = ANY (ARRAY['api'::text, 'webDemo'::text])));

-- constraint verification_batch.verification_batch_owner_idempotency_key_key
ALTER TABLE verification_batch ADD CONSTRAINT verification_batch_owner_idempotency_key_key UNIQUE (owner, idempotency_key);

-- constraint verification_batch.verification_batch_pkey
ALTER TABLE verification_batch ADD CONSTRAINT verification_batch_pkey PRIMARY KEY (batch_id);

-- constraint verification_batch.verification_batch_public_id_key
ALTER TABLE verification_batch ADD CONSTRAINT verification_batch_public_id_key UNIQUE (public_id);

-- constraint verification_batch.verification_batch_request_sha256_check
ALTER TABLE verification_batch ADD CONSTRAINT verification_batch_request_sha256_check CHECK ((request_sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint verification_batch.verification_batch_settings_sha256_check
ALTER TABLE verification_batch ADD CONSTRAINT verification_batch_settings_sha256_check CHECK ((settings_sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint verification_batch.verification_batch_state_check
ALTER TABLE verification_batch ADD CONSTRAINT verification_batch_state_check CHECK ((state = ANY (ARRAY['open'::text, 'queued'::text, 'performing'::text, 'done'::text, 'cancelled'::text])));

-- constraint verification_result.verification_result_audio_sha256_fkey
ALTER TABLE verification_result ADD CONSTRAINT verification_result_audio_sha256_fkey FOREIGN KEY (audio_sha256) REFERENCES recording(sha256);

-- constraint verification_result.verification_result_audio_sha256_model_model_sha256_setting_key
ALTER TABLE verification_result ADD CONSTRAINT verification_result_audio_sha256_model_model_sha256_setting_key UNIQUE (audio_sha256, model, model_sha256, settings_sha256);

-- constraint verification_result.verification_result_model_sha256_check
ALTER TABLE verification_result ADD CONSTRAINT verification_result_model_sha256_check CHECK ((model_sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint verification_result.verification_result_pkey
ALTER TABLE verification_result ADD CONSTRAINT verification_result_pkey PRIMARY KEY (result_id);

-- constraint verification_result.verification_result_replay_check
ALTER TABLE verification_result ADD CONSTRAINT verification_result_replay_check CHECK (((replay >= (0)::double precision) AND (replay <= (1)::double precision)));

-- constraint verification_result.verification_result_scores
ALTER TABLE verification_result ADD CONSTRAINT verification_result_scores CHECK (
CASE state
    WHEN 'performed'::text THEN (((synthesis IS NOT NULL) OR (replay IS NOT NULL)) AND (decision IS NOT NULL) AND (reason IS NULL))
    ELSE ((synthesis IS NULL) AND (replay IS NULL) AND (decision IS NULL) AND (reason IS NOT NULL))
END);

-- constraint verification_result.verification_result_settings_sha256_check
ALTER TABLE verification_result ADD CONSTRAINT verification_result_settings_sha256_check CHECK ((settings_sha256 ~ '^[0-9a-f]{64}$'::text));

-- constraint verification_result.verification_result_state_check
ALTER TABLE verification_result ADD CONSTRAINT verification_result_state_check CHECK ((state = ANY (ARRAY['performed'::text, 'performedWithoutScore'::text])));

-- constraint verification_result.verification_result_synthesis_check
ALTER TABLE verification_result ADD CONSTRAINT verification_result_synthesis_check CHECK (((synthesis >= (0)::double precision) AND (synthesis <= (1)::double precision)));

-- constraint voice_verification.voice_verification_identity_check
ALTER TABLE voice_verification ADD CONSTRAINT voice_verification_identity_check CHECK (((identity >= (0)::double precision) AND (identity <= (1)::double precision)));

-- constraint voice_verification.voice_verification_outcome
ALTER TABLE voice_verification ADD CONSTRAINT voice_verification_outcome CHECK (((identity IS NULL) = (reason IS NOT NULL)));

-- constraint voice_verification.voice_verification_pkey
ALTER TABLE voice_verification ADD CONSTRAINT voice_verification_pkey PRIMARY KEY (voice_verification_id);

-- constraint voice_verification.voice_verification_public_id_key
ALTER TABLE voice_verification ADD CONSTRAINT voice_verification_public_id_key UNIQUE (public_id);

-- constraint voice_verification.voice_verification_result_id_fkey
ALTER TABLE voice_verification ADD CONSTRAINT voice_verification_result_id_fkey FOREIGN KEY (result_id) REFERENCES verification_result(result_id);

-- constraint voice_verification.voice_verification_voiceprint_id_fkey
ALTER TABLE voice_verification ADD CONSTRAINT voice_verification_voiceprint_id_fkey FOREIGN KEY (voiceprint_id) REFERENCES voiceprint(voiceprint_id);

-- constraint voiceprint.voiceprint_consent_recorded_by_check
ALTER TABLE voiceprint ADD CONSTRAINT voiceprint_consent_recorded_by_check CHECK ((consent_recorded_by ~ '\S'::text));

-- constraint voiceprint.voiceprint_consent_reference_check
ALTER TABLE voiceprint ADD CONSTRAINT voiceprint_consent_reference_check CHECK ((char_length((consent_reference)::text) <= 256));

-- constraint voiceprint.voiceprint_deleted
ALTER TABLE voiceprint ADD CONSTRAINT voiceprint_deleted CHECK (
CASE
    WHEN (deleted_at IS NULL) THEN ((wrapped_key IS NOT NULL) AND (sealed_embedding IS NOT NULL))
    ELSE ((wrapped_key IS NULL) AND (sealed_embedding IS NULL) AND (deleted_why ~ '\S'::text))
END);

-- constraint voiceprint.voiceprint_pkey
ALTER TABLE voiceprint ADD CONSTRAINT voiceprint_pkey PRIMARY KEY (voiceprint_id);

-- constraint voiceprint.voiceprint_public_id_key
ALTER TABLE voiceprint ADD CONSTRAINT voiceprint_public_id_key UNIQUE (public_id);

-- constraint voiceprint.voiceprint_recordings_check
ALTER TABLE voiceprint ADD CONSTRAINT voiceprint_recordings_check CHECK ((recordings >= 3));

-- constraint voiceprint.voiceprint_subject_check
ALTER TABLE voiceprint ADD CONSTRAINT voiceprint_subject_check CHECK ((char_length((subject)::text) <= 128));

-- constraint voiceprint_event.voiceprint_event_action_check
ALTER TABLE voiceprint_event ADD CONSTRAINT voiceprint_event_action_check CHECK ((action = ANY (ARRAY['enrolled'::text, 'verified'::text, 'deleted'::text])));

-- constraint voiceprint_event.voiceprint_event_actor_check
ALTER TABLE voiceprint_event ADD CONSTRAINT voiceprint_event_actor_check CHECK ((actor ~ '\S'::text));

-- constraint voiceprint_event.voiceprint_event_pkey
ALTER TABLE voiceprint_event ADD CONSTRAINT voiceprint_event_pkey PRIMARY KEY (event_id);

-- constraint voiceprint_event.voiceprint_event_reason_check
ALTER TABLE voiceprint_event ADD CONSTRAINT voiceprint_event_reason_check CHECK ((reason ~ '\S'::text));

-- constraint webhook_delivery.webhook_delivery_attempts_check
ALTER TABLE webhook_delivery ADD CONSTRAINT webhook_delivery_attempts_check CHECK ((attempts >= 0));

-- constraint webhook_delivery.webhook_delivery_endpoint_id_fkey
ALTER TABLE webhook_delivery ADD CONSTRAINT webhook_delivery_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint(endpoint_id) ON DELETE CASCADE;

-- constraint webhook_delivery.webhook_delivery_event_id_endpoint_id_key
ALTER TABLE webhook_delivery ADD CONSTRAINT webhook_delivery_event_id_endpoint_id_key UNIQUE (event_id, endpoint_id);

-- constraint webhook_delivery.webhook_delivery_event_id_fkey
ALTER TABLE webhook_delivery ADD CONSTRAINT webhook_delivery_event_id_fkey FOREIGN KEY (event_id) REFERENCES webhook_event(event_id) ON DELETE CASCADE;

-- constraint webhook_delivery.webhook_delivery_pending
ALTER TABLE webhook_delivery ADD CONSTRAINT webhook_delivery_pending CHECK (((state = 'pending'::text) = (next_attempt_at IS NOT NULL)));

-- constraint webhook_delivery.webhook_delivery_pkey
ALTER TABLE webhook_delivery ADD CONSTRAINT webhook_delivery_pkey PRIMARY KEY (delivery_id);

-- constraint webhook_delivery.webhook_delivery_replays_check
ALTER TABLE webhook_delivery ADD CONSTRAINT webhook_delivery_replays_check CHECK ((replays >= 0));

-- constraint webhook_delivery.webhook_delivery_state_check
ALTER TABLE webhook_delivery ADD CONSTRAINT webhook_delivery_state_check CHECK ((state = ANY (ARRAY['pending'::text, 'delivered'::text, 'failed'::text])));

-- constraint webhook_endpoint.webhook_endpoint_brand_id_fkey
ALTER TABLE webhook_endpoint ADD CONSTRAINT webhook_endpoint_brand_id_fkey FOREIGN KEY (brand_id) REFERENCES brand(brand_id);

-- constraint webhook_endpoint.webhook_endpoint_created_by_check
ALTER TABLE webhook_endpoint ADD CONSTRAINT webhook_endpoint_created_by_check CHECK ((created_by ~ '\S'::text));

-- constraint webhook_endpoint.webhook_endpoint_disabled
ALTER TABLE webhook_endpoint ADD CONSTRAINT webhook_endpoint_disabled CHECK ((((state = 'disabled'::text) = (disabled_at IS NOT NULL)) AND ((state = 'disabled'::text) = (disabled_by IS NOT NULL))));

-- constraint webhook_endpoint.webhook_endpoint_name_check
ALTER TABLE webhook_endpoint ADD CONSTRAINT webhook_endpoint_name_check CHECK ((name ~ '^[a-z0-9](-?[a-z0-9]){0,62}$'::text));

-- constraint webhook_endpoint.webhook_endpoint_name_key
ALTER TABLE webhook_endpoint ADD CONSTRAINT webhook_endpoint_name_key UNIQUE (name);

-- constraint webhook_endpoint.webhook_endpoint_pkey
ALTER TABLE webhook_endpoint ADD CONSTRAINT webhook_endpoint_pkey PRIMARY KEY (endpoint_id);

-- constraint webhook_endpoint.webhook_endpoint_state_check
ALTER TABLE webhook_endpoint ADD CONSTRAINT webhook_endpoint_state_check CHECK ((state = ANY (ARRAY['enabled'::text, 'disabled'::text])));

-- constraint webhook_endpoint.webhook_endpoint_url_check
ALTER TABLE webhook_endpoint ADD CONSTRAINT webhook_endpoint_url_check CHECK ((url ~ '^https?://'::text));

-- constraint webhook_event.webhook_event_message_id_key
ALTER TABLE webhook_event ADD CONSTRAINT webhook_event_message_id_key UNIQUE (message_id);

-- constraint webhook_event.webhook_event_only_endpoint_id_fkey
ALTER TABLE webhook_event ADD CONSTRAINT webhook_event_only_endpoint_id_fkey FOREIGN KEY (only_endpoint_id) REFERENCES webhook_endpoint(endpoint_id) ON DELETE CASCADE;

-- constraint webhook_event.webhook_event_pkey
ALTER TABLE webhook_event ADD CONSTRAINT webhook_event_pkey PRIMARY KEY (event_id);

-- constraint webhook_event.webhook_event_type_check
ALTER TABLE webhook_event ADD CONSTRAINT webhook_event_type_check CHECK ((type ~ '^[a-z]+\.[a-z_]+$'::text));

-- constraint webhook_secret.webhook_secret_endpoint_id_fkey
ALTER TABLE webhook_secret ADD CONSTRAINT webhook_secret_endpoint_id_fkey FOREIGN KEY (endpoint_id) REFERENCES webhook_endpoint(endpoint_id) ON DELETE CASCADE;

-- constraint webhook_secret.webhook_secret_pkey
ALTER TABLE webhook_secret ADD CONSTRAINT webhook_secret_pkey PRIMARY KEY (secret_id);

-- constraint webhook_secret.webhook_secret_public_id_key
ALTER TABLE webhook_secret ADD CONSTRAINT webhook_secret_public_id_key UNIQUE (public_id);

-- index api_key.api_key_client
CREATE INDEX api_key_client ON public.api_key USING btree (client);

-- index brand.brand_owner
CREATE INDEX brand_owner ON public.brand USING btree (owner, handle);

-- index brand.brand_owner_state
CREATE INDEX brand_owner_state ON public.brand USING btree (owner, state, handle);

-- index brand.brand_waiting
CREATE INDEX brand_waiting ON public.brand USING btree (handle) WHERE (pending_revision IS NOT NULL);

-- index brand_number.brand_number_number_id
CREATE UNIQUE INDEX brand_number_number_id ON public.brand_number USING btree (number_id);

-- index brand_number.brand_number_one_live_brand
CREATE UNIQUE INDEX brand_number_one_live_brand ON public.brand_number USING btree (phone) WHERE (state = ANY (ARRAY['verified'::text, 'suspended'::text]));

-- index brand_number.brand_number_phone
CREATE INDEX brand_number_phone ON public.brand_number USING btree (phone);

-- index brand_number.brand_number_state
CREATE INDEX brand_number_state ON public.brand_number USING btree (brand_id, state, phone);

-- index brand_revision.brand_revision_operation
CREATE INDEX brand_revision_operation ON public.brand_revision USING btree (operation_id);

-- index branded_number.branded_number_brand
CREATE INDEX branded_number_brand ON public.branded_number USING btree (brand_handle);

-- index branded_number.branded_number_live_until
CREATE INDEX branded_number_live_until ON public.branded_number USING btree (live_until) WHERE (live_until IS NOT NULL);

-- index branding_event.branding_event_at
CREATE INDEX branding_event_at ON public.branding_event USING btree (at);

-- index branding_event.branding_event_brand
CREATE INDEX branding_event_brand ON public.branding_event USING btree (brand_id, event_id);

-- index branding_operation.branding_operation_due
CREATE INDEX branding_operation_due ON public.branding_operation USING btree (operation_id) WHERE (state = 'queued'::text);

-- index branding_operation.branding_operation_letter
CREATE INDEX branding_operation_letter ON public.branding_operation USING btree (letter_document_id);

-- index branding_operation.branding_operation_newest_of_brand
CREATE INDEX branding_operation_newest_of_brand ON public.branding_operation USING btree (((request ->> 'handle'::text)), operation_id);

-- index branding_operation.branding_operation_newest_of_owner
CREATE INDEX branding_operation_newest_of_owner ON public.branding_operation USING btree (owner, operation_id);

-- index branding_operation.branding_operation_newest_standing
CREATE INDEX branding_operation_newest_standing ON public.branding_operation USING btree (COALESCE((result ->> 'outcome'::text), state), operation_id);

-- index branding_operation.branding_operation_numbers
CREATE INDEX branding_operation_numbers ON public.branding_operation USING btree (numbers_document_id);

-- index branding_operation.branding_operation_requested_by
CREATE INDEX branding_operation_requested_by ON public.branding_operation USING btree (requested_by);

-- index branding_operation_row.branding_operation_row_phone
CREATE INDEX branding_operation_row_phone ON public.branding_operation_row USING btree (operation_id, phone);

-- index complaint.complaint_load
CREATE INDEX complaint_load ON public.complaint USING btree (load_id);

-- index complaint.complaint_reported
CREATE INDEX complaint_reported ON public.complaint USING brin (reported_at);

-- index complaint_score.complaint_score_labelled
CREATE INDEX complaint_score_labelled ON public.complaint_score USING btree (phone) WHERE ((level)::text <> 'NEUTRAL'::text);

-- index console_event.console_event_actor
CREATE INDEX console_event_actor ON public.console_event USING btree (actor, event_id);

-- index console_event.console_event_at
CREATE INDEX console_event_at ON public.console_event USING btree (at);

-- index console_session.console_session_user
CREATE INDEX console_session_user ON public.console_session USING btree (user_id);

-- index document.document_sha256
CREATE INDEX document_sha256 ON public.document USING btree (sha256);

-- index drift_report.drift_report_models
CREATE INDEX drift_report_models ON public.drift_report USING btree (old_model, new_model, report_id);

-- index feed_load.feed_load_due
CREATE INDEX feed_load_due ON public.feed_load USING btree (load_id) WHERE (state = ANY (ARRAY['queued'::text, 'running'::text]));

-- index feed_load.feed_load_held
CREATE INDEX feed_load_held ON public.feed_load USING btree (load_id) WHERE (state = 'held'::text);

-- index feed_load.feed_load_kind
CREATE INDEX feed_load_kind ON public.feed_load USING btree (feed, source, load_id DESC) WHERE (state = 'done'::text);

-- index intake_request.intake_request_accepted_at
CREATE INDEX intake_request_accepted_at ON public.intake_request USING btree (accepted_at);

-- index intake_request.intake_request_object
CREATE INDEX intake_request_object ON public.intake_request USING btree (kind, object);

-- index issued_form.issued_form_brand
CREATE INDEX issued_form_brand ON public.issued_form USING btree (brand_id) WHERE (brand_id IS NOT NULL);

-- index issued_form.issued_form_owner
CREATE INDEX issued_form_owner ON public.issued_form USING btree (owner, form_id);

-- index label_event.label_event_at
CREATE INDEX label_event_at ON public.label_event USING brin (at);

-- index letter.letter_brand
CREATE INDEX letter_brand ON public.letter USING btree (brand_id, letter_id);

-- index letter.letter_document
CREATE INDEX letter_document ON public.letter USING btree (document_id);

-- index letter.letter_form
CREATE INDEX letter_form ON public.letter USING btree (form_id) WHERE (form_id IS NOT NULL);

-- index letter.letter_in_force
CREATE INDEX letter_in_force ON public.letter USING btree (valid_until) WHERE (state = ANY (ARRAY['approved'::text, 'expiring'::text]));

-- index letter.letter_waiting
CREATE INDEX letter_waiting ON public.letter USING btree (letter_id) WHERE (state = ANY (ARRAY['submitted'::text, 'in_review'::text]));

-- index letter_number.letter_number_phone
CREATE INDEX letter_number_phone ON public.letter_number USING btree (phone);

-- index model_default.model_default_family
CREATE INDEX model_default_family ON public.model_default USING btree (family, default_id);

-- index night_release.night_release_open
CREATE INDEX night_release_open ON public.night_release USING btree (cache, country, release_id DESC) WHERE (used_by_build_id IS NULL);

-- index night_run.night_run_open
CREATE INDEX night_run_open ON public.night_run USING btree (run_id) WHERE (state <> 'finished'::text);

-- index night_run.night_run_requested_once
CREATE UNIQUE INDEX night_run_requested_once ON public.night_run USING btree (requested_by, idempotency_key) WHERE (idempotency_key IS NOT NULL);

-- index night_run.night_run_scheduled_once
CREATE UNIQUE INDEX night_run_scheduled_once ON public.night_run USING btree (night_date) WHERE (trigger = 'schedule'::text);

-- index number_dispute.number_dispute_open
CREATE INDEX number_dispute_open ON public.number_dispute USING btree (dispute_id) WHERE (state = 'open'::text);

-- index number_dispute.number_dispute_open_of_contact
CREATE INDEX number_dispute_open_of_contact ON public.number_dispute USING btree (contact_digest) WHERE (state = 'open'::text);

-- index number_dispute.number_dispute_phone
CREATE INDEX number_dispute_phone ON public.number_dispute USING btree (phone, dispute_id);

-- index number_proof.number_proof_due
CREATE INDEX number_proof_due ON public.number_proof USING btree (proof_id) WHERE (state = 'open'::text);

-- index number_proof.number_proof_open
CREATE INDEX number_proof_open ON public.number_proof USING btree (brand_id, proof_id) WHERE (state = 'open'::text);

-- index number_proof_call.number_proof_call_phone
CREATE INDEX number_proof_call_phone ON public.number_proof_call USING btree (phone, requested_at);

-- index number_proof_member.number_proof_member_phone
CREATE INDEX number_proof_member_phone ON public.number_proof_member USING btree (phone, proof_id);

-- index phone_number.phone_number_country
CREATE INDEX phone_number_country ON public.phone_number USING btree (country, phone);

-- index protected_name.protected_name_once
CREATE UNIQUE INDEX protected_name_once ON public.protected_name USING btree (folded) WHERE (removed_at IS NULL);

-- index protected_number.protected_number_once
CREATE UNIQUE INDEX protected_number_once ON public.protected_number USING btree (value) WHERE (removed_at IS NULL);

-- index recording.recording_retention
CREATE INDEX recording_retention ON public.recording USING btree (last_submitted_at) WHERE (deleted_at IS NULL);

-- index redress.redress_phone
CREATE INDEX redress_phone ON public.redress USING btree (phone, cleared_at DESC);

-- index trust_document.trust_document_superseded
CREATE INDEX trust_document_superseded ON public.trust_document USING btree (superseded_at) WHERE (superseded_at IS NOT NULL);

-- index upload.upload_active
CREATE INDEX upload_active ON public.upload USING btree (active_at);

-- index upload.upload_open
CREATE INDEX upload_open ON public.upload USING btree (client) WHERE (completed_at IS NULL);

-- index verification.verification_newest_in_state
CREATE INDEX verification_newest_in_state ON public.verification USING btree (state, batch_id, line);

-- index verification.verification_newest_of_model
CREATE INDEX verification_newest_of_model ON public.verification USING btree (model, batch_id, line) WHERE (model IS NOT NULL);

-- index verification.verification_newest_with_label
CREATE INDEX verification_newest_with_label ON public.verification USING btree (label, batch_id, line) WHERE (label IS NOT NULL);

-- index verification.verification_waiting_audio
CREATE INDEX verification_waiting_audio ON public.verification USING btree (audio_sha256) WHERE (state = ANY (ARRAY['queued'::text, 'performing'::text]));

-- index verification_batch.verification_batch_due
CREATE INDEX verification_batch_due ON public.verification_batch USING btree (batch_id) WHERE (state = ANY (ARRAY['queued'::text, 'performing'::text]));

-- index verification_batch.verification_batch_of_demo
CREATE INDEX verification_batch_of_demo ON public.verification_batch USING btree (batch_id) WHERE (mode = 'webDemo'::text);

-- index verification_batch.verification_batch_owner
CREATE INDEX verification_batch_owner ON public.verification_batch USING btree (owner, batch_id);

-- index verification_batch.verification_batch_requested_at
CREATE INDEX verification_batch_requested_at ON public.verification_batch USING btree (requested_at);

-- index verification_batch.verification_batch_requested_by
CREATE INDEX verification_batch_requested_by ON public.verification_batch USING btree (requested_by);

-- index voice_verification.voice_verification_audio
CREATE INDEX voice_verification_audio ON public.voice_verification USING btree (audio_sha256, voice_verification_id);

-- index voice_verification.voice_verification_voiceprint
CREATE INDEX voice_verification_voiceprint ON public.voice_verification USING btree (voiceprint_id);

-- index voiceprint.voiceprint_subject
CREATE UNIQUE INDEX voiceprint_subject ON public.voiceprint USING btree (owner, subject) WHERE (deleted_at IS NULL);

-- index voiceprint_event.voiceprint_event_uncompared
CREATE INDEX voiceprint_event_uncompared ON public.voiceprint_event USING btree (voiceprint_id, event_id) WHERE (action <> 'verified'::text);

-- index voiceprint_event.voiceprint_event_voiceprint
CREATE INDEX voiceprint_event_voiceprint ON public.voiceprint_event USING btree (voiceprint_id, event_id);

-- index webhook_delivery.webhook_delivery_due
CREATE INDEX webhook_delivery_due ON public.webhook_delivery USING btree (endpoint_id, next_attempt_at) WHERE (state = 'pending'::text);

-- index webhook_delivery.webhook_delivery_failed
CREATE INDEX webhook_delivery_failed ON public.webhook_delivery USING btree (endpoint_id, last_attempt_at) WHERE (state = 'failed'::text);

-- index webhook_delivery.webhook_delivery_newest
CREATE INDEX webhook_delivery_newest ON public.webhook_delivery USING btree (endpoint_id, delivery_id);

-- index webhook_delivery.webhook_delivery_undelivered
CREATE INDEX webhook_delivery_undelivered ON public.webhook_delivery USING btree (state, delivery_id) WHERE (state <> 'delivered'::text);

-- index webhook_event.webhook_event_occurred_at
CREATE INDEX webhook_event_occurred_at ON public.webhook_event USING btree (occurred_at);

-- index webhook_secret.webhook_secret_endpoint
CREATE INDEX webhook_secret_endpoint ON public.webhook_secret USING btree (endpoint_id);

-- view brand_overview
CREATE VIEW brand_overview AS
 SELECT b.brand_id,
    b.handle,
    b.owner,
    b.state,
    b.created_at,
    b.changed_at,
    b.approved_at,
    b.approved_revision,
    b.pending_revision,
    r.display_name,
    (r.profile ->> 'legalName'::text) AS legal_name,
    (r.profile ->> 'dba'::text) AS dba,
    (r.profile ->> 'website'::text) AS website,
    (r.profile ->> 'country'::text) AS country,
    (r.profile -> 'callReasons'::text) AS call_reasons,
    (r.profile ->> 'logo'::text) AS logo,
    (r.profile ->> 'logoSha256'::text) AS logo_sha256,
    (r.profile ->> 'relationship'::text) AS relationship,
    p.display_name AS pending_display_name
   FROM ((brand b
     CROSS JOIN LATERAL ( SELECT brand_revision.display_name,
            brand_revision.profile
           FROM brand_revision
          WHERE ((brand_revision.brand_id = b.brand_id) AND (brand_revision.revision = COALESCE(b.approved_revision, b.pending_revision, b.last_revision)))
         LIMIT 1) r)
     LEFT JOIN brand_revision p ON (((p.brand_id = b.brand_id) AND (p.revision = b.pending_revision))));

-- view cache_branded_phones
CREATE VIEW cache_branded_phones AS
 SELECT phone,
    display_name,
    display_description,
    display_detail,
    display_image
   FROM branded_number
  WHERE ((live_from <= evaluated_at()) AND ((live_until IS NULL) OR (live_until > evaluated_at())));

-- view cache_profile_phones
CREATE VIEW cache_profile_phones AS
 SELECT n.phone,
    n.country,
    n.reputation_level,
    n.reputation_category,
        CASE
            WHEN (b.phone IS NULL) THEN n.display_name
            ELSE b.display_name
        END AS display_name,
        CASE
            WHEN (b.phone IS NULL) THEN n.display_description
            ELSE b.display_description
        END AS display_description,
        CASE
            WHEN (b.phone IS NULL) THEN n.display_detail
            ELSE b.display_detail
        END AS display_detail,
        CASE
            WHEN (b.phone IS NULL) THEN n.display_image
            ELSE b.display_image
        END AS display_image
   FROM (phone_number n
     LEFT JOIN cache_branded_phones b ON (((b.phone)::text = (n.phone)::text)));

-- view cache_spam_ranges
CREATE VIEW cache_spam_ranges AS
 SELECT prefix,
    risk,
    lift,
    numbers_reported,
    to_char((since)::timestamp with time zone, 'YYYY-MM-DD'::text) AS since,
    to_char((until)::timestamp with time zone, 'YYYY-MM-DD'::text) AS until
   FROM spam_range;

-- view cache_spammer_phones
CREATE VIEW cache_spammer_phones AS
 SELECT phone,
    reputation_level,
    reputation_category
   FROM phone_number
  WHERE ((reputation_level)::text <> 'NEUTRAL'::text);

-- view protection_in_force
CREATE VIEW protection_in_force AS
 SELECT kind,
    (value ||
        CASE kind
            WHEN 'prefix'::text THEN '%'::text
            ELSE ''::text
        END) AS pattern,
    exceptions
   FROM protected_number
  WHERE (removed_at IS NULL);

-- view waiting_brand
CREATE VIEW waiting_brand AS
 SELECT b.brand_id,
    b.handle,
    b.owner,
    b.state,
    b.approved_revision,
    p.display_name AS pending_display_name,
    p.findings,
    p.created_at AS waiting_since
   FROM (brand b
     JOIN brand_revision p ON (((p.brand_id = b.brand_id) AND (p.revision = b.pending_revision))))
  WHERE ((b.pending_revision IS NOT NULL) AND ((b.state = ANY (ARRAY['submitted'::text, 'in_review'::text])) OR ((b.approved_revision IS NOT NULL) AND (b.state <> 'withdrawn'::text))) AND (NOT (EXISTS ( SELECT
           FROM letter l
          WHERE ((l.brand_id = b.brand_id) AND (l.revision = b.pending_revision) AND (l.state = ANY (ARRAY['submitted'::text, 'in_review'::text])))))));

-- function add_webhook_deliveries
CREATE OR REPLACE FUNCTION public.add_webhook_deliveries()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO webhook_delivery (event_id, endpoint_id)
  SELECT NEW.event_id, e.endpoint_id FROM webhook_endpoint AS e WHERE e.state = 'enabled' AND is_announced_to(e, NEW);
  RETURN NULL;
END $function$;

-- function announce_batch
CREATE OR REPLACE FUNCTION public.announce_batch()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO webhook_event (message_id, type, occurred_at, data)
  SELECT webhook_message_id('batch/' || NEW.public_id || '/' || NEW.generation || '/' || NEW.state, NEW.ended_at), 'batch.' || NEW.state, NEW.ended_at,
    jsonb_build_object('batch', NEW.public_id, 'state', NEW.state, 'mode', NEW.mode, 'items', NEW.items,
      'performed', count(*) FILTER (WHERE v.state = 'performed'),
      'performedWithoutScore', count(*) FILTER (WHERE v.state = 'performedWithoutScore'),
      'error', count(*) FILTER (WHERE v.state = 'error'))
  FROM verification AS v
  WHERE v.batch_id = NEW.batch_id
  ON CONFLICT (message_id) DO NOTHING;
  RETURN NULL;
END $function$;

-- function announce_branding
CREATE OR REPLACE FUNCTION public.announce_branding()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO webhook_event (message_id, type, brand_id, occurred_at, data)
  SELECT webhook_message_id('branding/' || c.sequence, c.at), c.subject || '.' || c.after, c.brand_id, c.at,
    CASE c.subject
      WHEN 'letter' THEN jsonb_build_object('letter', c.letter_id, 'validUntil', webhook_instant(l.valid_until))
      WHEN 'number' THEN jsonb_build_object('count', c.changes, 'operation', c.operation_id)
      ELSE '{}'::jsonb
    END || jsonb_build_object('brand', b.handle, 'state', c.after, 'before', c.before, 'sequence', c.sequence)
  FROM (
    SELECT min(event_id) AS sequence, min(at) AS at, brand_id, subject, letter_id, operation_id, before, after, count(*) AS changes
    FROM new_rows
    WHERE before IS DISTINCT FROM after AND (subject = 'number' OR after <> 'submitted')
    GROUP BY brand_id, subject, letter_id, operation_id, before, after) AS c
  JOIN brand AS b USING (brand_id)
  LEFT JOIN letter AS l ON l.letter_id = c.letter_id
  ORDER BY c.sequence
  ON CONFLICT (message_id) DO NOTHING;
  RETURN NULL;
END $function$;

-- function announce_dispute
CREATE OR REPLACE FUNCTION public.announce_dispute()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  happened timestamptz := coalesce(NEW.decided_at, NEW.filed_at);
  holder brand;
BEGIN
  SELECT b.* INTO holder FROM brand_number AS n JOIN brand AS b USING (brand_id) WHERE n.phone = NEW.phone AND n.state IN ('verified', 'suspended');
  INSERT INTO webhook_event (message_id, type, brand_id, occurred_at, data)
  VALUES (
    webhook_message_id('dispute/' || NEW.dispute_id || '/' || NEW.state, happened), 'dispute.' || NEW.state, holder.brand_id, happened,
    jsonb_build_object('dispute', NEW.dispute_id, 'brand', holder.handle, 'state', NEW.state, 'before', CASE TG_OP WHEN 'UPDATE' THEN 'open' END))
  ON CONFLICT (message_id) DO NOTHING;
  RETURN NULL;
END $function$;

-- function announce_load
CREATE OR REPLACE FUNCTION public.announce_load()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  outcome text := CASE NEW.state WHEN 'queued' THEN 'released' ELSE NEW.state END;
  happened timestamptz := CASE NEW.state WHEN 'held' THEN NEW.finished_at ELSE NEW.decided_at END;
BEGIN
  INSERT INTO webhook_event (message_id, type, occurred_at, data)
  VALUES (
    webhook_message_id('load/' || NEW.load_id || '/' || outcome, happened), 'load.' || outcome, happened,
    jsonb_build_object('load', NEW.load_id, 'feed', NEW.feed, 'source', NEW.source, 'state', outcome,
      'rows', NEW.rows_given, 'gates', jsonb_path_query_array(NEW.gates, '$[*].gate')))
  ON CONFLICT (message_id) DO NOTHING;
  RETURN NULL;
END $function$;

-- function announce_night
CREATE OR REPLACE FUNCTION public.announce_night()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
DECLARE
  files jsonb;
BEGIN
  SELECT jsonb_build_object(
    'published', count(*) FILTER (WHERE state = 'published'),
    'unchanged', count(*) FILTER (WHERE state = 'unchanged'),
    'held', count(*) FILTER (WHERE state = 'failed' AND failure_code IN ('artefact_held', 'artefact_shrunk')),
    'failed', count(*) FILTER (WHERE state NOT IN ('published', 'unchanged') AND coalesce(failure_code, '') NOT IN ('artefact_held', 'artefact_shrunk')))
  INTO files FROM build WHERE run_id = NEW.run_id AND generation = NEW.generation;
  INSERT INTO webhook_event (message_id, type, occurred_at, data)
  SELECT webhook_message_id('night/' || NEW.run_id, NEW.finished_at), 'night.' || outcome, NEW.finished_at,
    jsonb_build_object('run', NEW.run_id, 'date', NEW.night_date, 'state', outcome, 'trigger', NEW.trigger, 'code', NEW.failure_code) || files
  FROM (SELECT CASE
    WHEN NEW.failure_code IS NOT NULL OR (files ->> 'failed')::integer > 0 THEN 'failed'
    WHEN (files ->> 'held')::integer > 0 THEN 'held'
    ELSE 'published' END AS outcome) AS o
  ON CONFLICT (message_id) DO NOTHING;
  RETURN NULL;
END $function$;

-- function announce_revision
CREATE OR REPLACE FUNCTION public.announce_revision()
 RETURNS trigger
 LANGUAGE plpgsql
 SECURITY DEFINER
 SET search_path TO 'public', 'pg_temp'
AS $function$
BEGIN
  INSERT INTO webhook_event (message_id, type, brand_id, occurred_at, data)
  SELECT webhook_message_id('revision/' || NEW.event_id, NEW.at), 'revision.' || o.outcome, b.brand_id, NEW.at,
    jsonb_build_object('brand', b.handle, 'revision', o.revision, 'state', o.outcome, 'operation', NEW.operation_id, 'sequence', NEW.event_id)
  FROM brand AS b
  CROSS JOIN LATERAL (SELECT
    CASE NEW.action WHEN 'approve_revision' THEN 'approved' WHEN 'reject_revision' THEN 'rejected' ELSE 'pending' END AS outcome,
    CASE NEW.action WHEN 'approve_revision' THEN b.approved_revision WHEN 'reject_revision' THEN b.last_revision ELSE b.pending_revision END AS revision) AS o
  WHERE b.brand_id = NEW.brand_id AND o.revision IS NOT NULL
  ON CONFLICT (message_id) DO NOTHING;
  RETURN NULL;
END $function$;

-- function end_number_proofs
CREATE OR REPLACE FUNCTION public.end_number_proofs()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  ended record;
BEGIN
  -- Planned each time by the present sizes, and each number looked up by itself: joined freely, all numbers of a brand were compared with all.
  FOR ended IN EXECUTE $query$
    SELECT m.proof_id, m.phone
    FROM changed_rows AS n
    CROSS JOIN LATERAL (SELECT proof_id, phone FROM number_proof_member WHERE phone = n.phone AND left_at IS NULL OFFSET 0) AS m
    CROSS JOIN LATERAL (SELECT brand_id FROM number_proof WHERE proof_id = m.proof_id OFFSET 0) AS p
    WHERE CASE WHEN n.brand_id = p.brand_id THEN n.state IN ('removed', 'permanently_rejected')
               ELSE n.state IN ('verified', 'suspended') END
  $query$
  LOOP
    UPDATE number_proof_member SET left_at = clock_timestamp() WHERE proof_id = ended.proof_id AND phone = ended.phone;
  END LOOP;
  RETURN NULL;
END $function$;

-- function evaluated_at
CREATE OR REPLACE FUNCTION public.evaluated_at()
 RETURNS timestamp with time zone
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  SELECT coalesce(nullif(current_setting('caller_trust.evaluated_at', true), '')::timestamptz, now())
$function$;

-- function is_announced_to
CREATE OR REPLACE FUNCTION public.is_announced_to(endpoint webhook_endpoint, event webhook_event)
 RETURNS boolean
 LANGUAGE sql
 STABLE
AS $function$
  SELECT (event.only_endpoint_id IS NULL OR event.only_endpoint_id = endpoint.endpoint_id)
    AND (endpoint.brand_id IS NULL OR endpoint.brand_id IS NOT DISTINCT FROM event.brand_id OR event.only_endpoint_id IS NOT NULL)
    AND (endpoint.event_types = '{}' OR event.type = ANY (endpoint.event_types)
      OR split_part(event.type, '.', 1) || '.*' = ANY (endpoint.event_types) OR event.only_endpoint_id IS NOT NULL)
$function$;

-- function is_protected_number
CREATE OR REPLACE FUNCTION public.is_protected_number(phone text)
 RETURNS boolean
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  SELECT EXISTS (SELECT FROM protected_among(ARRAY[phone]))
$function$;

-- function keep_protected_name
CREATE OR REPLACE FUNCTION public.keep_protected_name()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.removed_at IS NULL AND NEW.removed_at IS NOT NULL
    AND to_jsonb(NEW) - ARRAY['removed_at', 'removed_by', 'removed_reason'] = to_jsonb(OLD) - ARRAY['removed_at', 'removed_by', 'removed_reason'] THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'an entry of protected_name is only added, and removed once';
END $function$;

-- function label_cause_given
CREATE OR REPLACE FUNCTION public.label_cause_given()
 RETURNS jsonb
 LANGUAGE sql
 STABLE
AS $function$
  SELECT coalesce(nullif(current_setting('caller_trust.label_cause', true), ''), '{}')::jsonb
$function$;

-- function label_cause_of
CREATE OR REPLACE FUNCTION public.label_cause_of(source text)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT CASE source WHEN 'redress' THEN 'clearing' ELSE coalesce(source, 'other') END
$function$;

-- function label_evidence
CREATE OR REPLACE FUNCTION public.label_evidence(number text)
 RETURNS jsonb
 LANGUAGE plpgsql
 STABLE
AS $function$
DECLARE
  score jsonb := (SELECT to_jsonb(s) FROM complaint_score AS s WHERE s.phone = number);
BEGIN
  RETURN jsonb_strip_nulls(jsonb_build_object(
    'score', score -> 'score', 'reports', score -> 'reports', 'independentReports', score -> 'independent_reports',
    'states', score -> 'states', 'days', score -> 'days',
    'firstReportDay', ((score ->> 'first_reported_at')::timestamptz AT TIME ZONE 'UTC')::date,
    'lastReportDay', ((score ->> 'last_reported_at')::timestamptz AT TIME ZONE 'UTC')::date));
END $function$;

-- function protected_among
CREATE OR REPLACE FUNCTION public.protected_among(phones text[])
 RETURNS SETOF text
 LANGUAGE sql
 STABLE PARALLEL SAFE
AS $function$
  SELECT phone
  FROM (SELECT unnest(phones) COLLATE "C" AS phone) AS given
  WHERE phone IN (SELECT pattern FROM protection_in_force WHERE kind = 'number')
    OR (phone LIKE ANY (ARRAY(SELECT pattern FROM protection_in_force WHERE kind <> 'number'))
      AND EXISTS (
        SELECT FROM protection_in_force AS p
        WHERE p.kind <> 'number' AND phone LIKE p.pattern AND phone NOT LIKE ALL (p.exceptions)))
$function$;

-- function record_labels_deleted
CREATE OR REPLACE FUNCTION public.record_labels_deleted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO label_event (phone, level_before, category_before, source_before, level, cause)
  SELECT phone, reputation_level, reputation_category, reputation_source, 'NEUTRAL', coalesce(label_cause_given() ->> 'cause', 'removed')
  FROM old_rows
  WHERE reputation_level <> 'NEUTRAL'
  ORDER BY phone;
  RETURN NULL;
END $function$;

-- function record_labels_inserted
CREATE OR REPLACE FUNCTION public.record_labels_inserted()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  given jsonb := label_cause_given();
  given_cause text := given ->> 'cause';
  given_rule text := given ->> 'ruleVersion';
  given_instant timestamptz := given ->> 'evaluatedAt';
  given_redress bigint := given ->> 'redressId';
  moment timestamptz := clock_timestamp();
  refused text;
BEGIN
  SELECT phone INTO refused FROM protected_among(ARRAY(SELECT n.phone::text FROM new_rows AS n WHERE n.reputation_level <> 'NEUTRAL')) AS phone LIMIT 1;
  IF FOUND THEN
    PERFORM refuse_label(refused);
  END IF;
  INSERT INTO label_event (phone, at, level_before, level, category, source, cause, rule_version, evaluated_at, load_id, redress_id, evidence)
  SELECT phone, moment, 'NEUTRAL', reputation_level, reputation_category, reputation_source,
    coalesce(given_cause, label_cause_of(reputation_source)), given_rule, given_instant,
    CASE WHEN reputation_source = 'feed' THEN feed_load_id END, given_redress,
    CASE WHEN reputation_source = 'complaints' THEN label_evidence(phone) END
  FROM new_rows
  WHERE reputation_level <> 'NEUTRAL';
  RETURN NULL;
END $function$;

-- function record_labels_truncated
CREATE OR REPLACE FUNCTION public.record_labels_truncated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  INSERT INTO label_event (phone, level_before, category_before, source_before, level, cause)
  SELECT phone, reputation_level, reputation_category, reputation_source, 'NEUTRAL', 'removed'
  FROM phone_number
  WHERE reputation_level <> 'NEUTRAL'
  ORDER BY phone;
  RETURN NULL;
END $function$;

-- function record_labels_updated
CREATE OR REPLACE FUNCTION public.record_labels_updated()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
DECLARE
  given jsonb := label_cause_given();
  given_cause text := given ->> 'cause';
  given_rule text := given ->> 'ruleVersion';
  given_instant timestamptz := given ->> 'evaluatedAt';
  given_redress bigint := given ->> 'redressId';
  moment timestamptz := clock_timestamp();
  refused text;
BEGIN
  WITH relabelled AS MATERIALIZED (
    -- Labels that are only among the old or only among the new rows. Mostly there are none, and nothing is joined.
    SELECT DISTINCT phone FROM (
      SELECT phone, reputation_level, reputation_category, reputation_source, 1 AS side FROM old_rows WHERE reputation_level <> 'NEUTRAL'
      UNION ALL
      SELECT phone, reputation_level, reputation_category, reputation_source, -1 FROM new_rows WHERE reputation_level <> 'NEUTRAL'
    ) AS labels
    GROUP BY phone, reputation_level, reputation_category, reputation_source
    HAVING sum(side) <> 0
  ), before AS (
    SELECT phone, reputation_level AS level, reputation_category AS category, reputation_source AS source FROM old_rows JOIN relabelled USING (phone)
  ), after AS (
    SELECT phone, reputation_level AS level, reputation_category AS category, reputation_source AS source, feed_load_id FROM new_rows JOIN relabelled USING (phone)
  ), recorded AS (
    INSERT INTO label_event (phone, at, level_before, category_before, source_before, level, category, source, cause, rule_version, evaluated_at, load_id, redress_id, evidence)
    SELECT phone, moment, coalesce(before.level, 'NEUTRAL'), before.category, before.source, coalesce(after.level, 'NEUTRAL'), after.category, after.source,
      coalesce(given_cause, label_cause_of(after.source)), given_rule, given_instant,
      CASE WHEN after.source = 'feed' THEN after.feed_load_id END, given_redress,
      CASE WHEN after.source = 'complaints' THEN label_evidence(phone) END
    FROM before FULL JOIN after USING (phone)
    RETURNING phone, level
  )
  SELECT phone INTO refused FROM protected_among(ARRAY(SELECT r.phone::text FROM recorded AS r WHERE r.level <> 'NEUTRAL')) AS phone LIMIT 1;
  IF FOUND THEN
    PERFORM refuse_label(refused);
  END IF;
  RETURN NULL;
END $function$;

-- function refuse_change
CREATE OR REPLACE FUNCTION public.refuse_change()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'rows of % are only ever added', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$function$;

-- function refuse_early_deletion
CREATE OR REPLACE FUNCTION public.refuse_early_deletion()
 RETURNS trigger
 LANGUAGE plpgsql
AS $function$
BEGIN
  IF EXISTS (SELECT FROM old_rows WHERE at > now() - interval '400 days') THEN
    RAISE EXCEPTION 'rows of % are kept for 400 days', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END $function$;

-- function refuse_label
CREATE OR REPLACE FUNCTION public.refuse_label(phone text)
 RETURNS void
 LANGUAGE plpgsql
AS $function$
BEGIN
  RAISE EXCEPTION 'a protected number can not be labelled'
    USING ERRCODE = 'check_violation', CONSTRAINT = 'phone_number_not_protected', DETAIL = phone;
END $function$;

-- function webhook_instant
CREATE OR REPLACE FUNCTION public.webhook_instant(at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$function$;

-- function webhook_message_id
CREATE OR REPLACE FUNCTION public.webhook_message_id(source text, at timestamp with time zone)
 RETURNS text
 LANGUAGE sql
 IMMUTABLE
AS $function$
  SELECT 'msg_' || left(encode(sha256(convert_to(source || '/' || extract(epoch FROM at)::text, 'UTF8')), 'hex'), 32)
$function$;

-- trigger brand_number.brand_number_end_proofs_insert
CREATE TRIGGER brand_number_end_proofs_insert AFTER INSERT ON public.brand_number REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION end_number_proofs();

-- trigger brand_number.brand_number_end_proofs_update
CREATE TRIGGER brand_number_end_proofs_update AFTER UPDATE ON public.brand_number REFERENCING NEW TABLE AS changed_rows FOR EACH STATEMENT EXECUTE FUNCTION end_number_proofs();

-- trigger branding_event.branding_event_announced
CREATE TRIGGER branding_event_announced AFTER INSERT ON public.branding_event REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION announce_branding();

-- trigger branding_event.branding_event_append_only
CREATE TRIGGER branding_event_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.branding_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE branding_event ENABLE ALWAYS TRIGGER branding_event_append_only;

-- trigger branding_event.branding_event_revision
CREATE CONSTRAINT TRIGGER branding_event_revision AFTER INSERT ON public.branding_event DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((new.subject = 'brand'::text) AND (new.after = ANY (ARRAY['approved'::text, 'suspended'::text, 'expired'::text])) AND (new.action = ANY (ARRAY['propose_revision'::text, 'approve_revision'::text, 'reject_revision'::text])))) EXECUTE FUNCTION announce_revision();

-- trigger console_event.console_event_append_only
CREATE TRIGGER console_event_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.console_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE console_event ENABLE ALWAYS TRIGGER console_event_append_only;

-- trigger feed_load.feed_load_announced
CREATE TRIGGER feed_load_announced AFTER UPDATE OF state ON public.feed_load FOR EACH ROW WHEN ((((old.state <> 'held'::text) AND (new.state = 'held'::text)) OR ((old.state = 'held'::text) AND (new.state = ANY (ARRAY['queued'::text, 'discarded'::text]))))) EXECUTE FUNCTION announce_load();

-- trigger label_event.label_event_append_only
CREATE TRIGGER label_event_append_only BEFORE UPDATE OR TRUNCATE ON public.label_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE label_event ENABLE ALWAYS TRIGGER label_event_append_only;

-- trigger label_event.label_event_retention
CREATE TRIGGER label_event_retention AFTER DELETE ON public.label_event REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION refuse_early_deletion();
ALTER TABLE label_event ENABLE ALWAYS TRIGGER label_event_retention;

-- trigger model_default.model_default_append_only
CREATE TRIGGER model_default_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.model_default FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE model_default ENABLE ALWAYS TRIGGER model_default_append_only;

-- trigger night_run.night_run_announced
CREATE CONSTRAINT TRIGGER night_run_announced AFTER UPDATE OF state ON public.night_run DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.state IS DISTINCT FROM new.state) AND (new.state = 'finished'::text))) EXECUTE FUNCTION announce_night();

-- trigger number_dispute.number_dispute_decided
CREATE TRIGGER number_dispute_decided AFTER UPDATE OF state ON public.number_dispute FOR EACH ROW WHEN (((old.state = 'open'::text) AND (new.state <> 'open'::text))) EXECUTE FUNCTION announce_dispute();

-- trigger number_dispute.number_dispute_opened
CREATE TRIGGER number_dispute_opened AFTER INSERT ON public.number_dispute FOR EACH ROW EXECUTE FUNCTION announce_dispute();

-- trigger phone_number.phone_number_label_delete
CREATE TRIGGER phone_number_label_delete AFTER DELETE ON public.phone_number REFERENCING OLD TABLE AS old_rows FOR EACH STATEMENT EXECUTE FUNCTION record_labels_deleted();
ALTER TABLE phone_number ENABLE ALWAYS TRIGGER phone_number_label_delete;

-- trigger phone_number.phone_number_label_insert
CREATE TRIGGER phone_number_label_insert AFTER INSERT ON public.phone_number REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION record_labels_inserted();
ALTER TABLE phone_number ENABLE ALWAYS TRIGGER phone_number_label_insert;

-- trigger phone_number.phone_number_label_truncate
CREATE TRIGGER phone_number_label_truncate BEFORE TRUNCATE ON public.phone_number FOR EACH STATEMENT EXECUTE FUNCTION record_labels_truncated();
ALTER TABLE phone_number ENABLE ALWAYS TRIGGER phone_number_label_truncate;

-- trigger phone_number.phone_number_label_update
CREATE TRIGGER phone_number_label_update AFTER UPDATE ON public.phone_number REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION record_labels_updated();
ALTER TABLE phone_number ENABLE ALWAYS TRIGGER phone_number_label_update;

-- trigger protected_name.protected_name_kept
CREATE TRIGGER protected_name_kept BEFORE DELETE OR UPDATE ON public.protected_name FOR EACH ROW EXECUTE FUNCTION keep_protected_name();
ALTER TABLE protected_name ENABLE ALWAYS TRIGGER protected_name_kept;

-- trigger verification_batch.verification_batch_announced
CREATE CONSTRAINT TRIGGER verification_batch_announced AFTER UPDATE OF state ON public.verification_batch DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (((old.state IS DISTINCT FROM new.state) AND (new.state = ANY (ARRAY['done'::text, 'cancelled'::text])))) EXECUTE FUNCTION announce_batch();

-- trigger voiceprint_event.voiceprint_event_append_only
CREATE TRIGGER voiceprint_event_append_only BEFORE DELETE OR UPDATE OR TRUNCATE ON public.voiceprint_event FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE voiceprint_event ENABLE ALWAYS TRIGGER voiceprint_event_append_only;

-- trigger webhook_event.webhook_event_deliveries
CREATE TRIGGER webhook_event_deliveries AFTER INSERT ON public.webhook_event FOR EACH ROW WHEN ((new.only_endpoint_id IS NULL)) EXECUTE FUNCTION add_webhook_deliveries();

-- grant added_model.SELECT
GRANT SELECT ON added_model TO caller_trust_reader;

-- grant api_key.SELECT
GRANT SELECT ON api_key TO caller_trust_reader;

-- grant artefact_version.SELECT
GRANT SELECT ON artefact_version TO caller_trust_reader;

-- grant brand_number.SELECT
GRANT SELECT ON brand_number TO caller_trust_reader;

-- grant brand_overview.SELECT
GRANT SELECT ON brand_overview TO caller_trust_reader;

-- grant branded_number.SELECT
GRANT SELECT ON branded_number TO caller_trust_reader;

-- grant complaint_score.SELECT
GRANT SELECT ON complaint_score TO caller_trust_reader;

-- grant feed_load.SELECT
GRANT SELECT (load_id, feed, source, state, requested_at, rows_accepted, rows_changed) ON feed_load TO caller_trust_reader;

-- grant label_event.SELECT
GRANT SELECT ON label_event TO caller_trust_reader;

-- grant letter.SELECT
GRANT SELECT ON letter TO caller_trust_reader;

-- grant letter_finding.SELECT
GRANT SELECT ON letter_finding TO caller_trust_reader;

-- grant letter_number.SELECT
GRANT SELECT ON letter_number TO caller_trust_reader;

-- grant model_default.SELECT
GRANT SELECT ON model_default TO caller_trust_reader;

-- grant phone_number.SELECT
GRANT SELECT (phone, country, reputation_level, reputation_category, display_name, display_description, display_detail, display_image, reputation_source, feed_level, feed_category, feed_load_id, cleared_at) ON phone_number TO caller_trust_reader;

-- grant protection_in_force.SELECT
GRANT SELECT ON protection_in_force TO caller_trust_reader;

-- grant publication.SELECT
GRANT SELECT ON publication TO caller_trust_reader;

-- grant recording.SELECT
GRANT SELECT ON recording TO caller_trust_reader;

-- grant redress.SELECT
GRANT SELECT (phone, cleared_at) ON redress TO caller_trust_reader;

-- grant reputation_category.SELECT
GRANT SELECT ON reputation_category TO caller_trust_reader;

-- grant schema_migration.SELECT
GRANT SELECT ON schema_migration TO caller_trust_reader;

-- grant scoring_run.SELECT
GRANT SELECT ON scoring_run TO caller_trust_reader;

-- grant service_secret.SELECT
GRANT SELECT ON service_secret TO caller_trust_reader;

-- grant spam_range.SELECT
GRANT SELECT ON spam_range TO caller_trust_reader;

-- grant trust_document.SELECT
GRANT SELECT ON trust_document TO caller_trust_reader;

-- grant trust_state.SELECT
GRANT SELECT ON trust_state TO caller_trust_reader;

-- grant verification.SELECT
GRANT SELECT ON verification TO caller_trust_reader;

-- grant verification_batch.SELECT
GRANT SELECT ON verification_batch TO caller_trust_reader;

-- grant verification_result.SELECT
GRANT SELECT ON verification_result TO caller_trust_reader;
