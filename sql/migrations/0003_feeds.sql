-- Compatible with older workers: yes (new objects only).
-- Feed loads with their rejects; complaints, their scores, and redress.

CREATE TABLE feed_load (
  load_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  feed text COLLATE "C" NOT NULL CHECK (feed IN ('reputation', 'directory', 'complaints')),
  file_name text NOT NULL,
  file_sha256 text COLLATE "C" NOT NULL CHECK (file_sha256 ~ '^[0-9a-f]{64}$'),
  file_bytes bigint NOT NULL CHECK (file_bytes >= 0),
  submitted_by text NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'done', 'failed')),
  requested_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz,
  rows_given bigint,
  rows_accepted bigint,
  rows_rejected bigint,
  -- Accepted rows that a later row of the same file overrules.
  rows_superseded bigint,
  -- Rows of the database that the load made or changed.
  rows_changed bigint,
  rejects_by_code jsonb NOT NULL DEFAULT '{}',
  failure_code text,
  failure_reason text,
  CONSTRAINT feed_load_adds_up CHECK (state <> 'done' OR rows_accepted + rows_rejected = rows_given)
);
CREATE INDEX feed_load_due ON feed_load (load_id) WHERE state IN ('queued', 'running');

CREATE TABLE feed_reject (
  load_id bigint NOT NULL REFERENCES feed_load ON DELETE CASCADE,
  line_number bigint NOT NULL CHECK (line_number > 0),
  code text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  -- Start of the row with unprintable bytes escaped; for complaints without the complainant's fields.
  excerpt text NOT NULL,
  PRIMARY KEY (load_id, line_number)
);

CREATE TABLE complaint (
  complaint_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  phone e164 NOT NULL,
  country country_code,
  reported_at timestamptz NOT NULL,
  violated_at timestamptz,
  consumer_state clean_text,
  subject clean_text NOT NULL,
  recorded boolean,
  -- 1 for the first of several rows that are alike to the last field, 2 for the second, in file order.
  occurrence integer NOT NULL,
  load_id bigint NOT NULL REFERENCES feed_load,
  CONSTRAINT complaint_once UNIQUE NULLS NOT DISTINCT
    (phone, reported_at, violated_at, consumer_state, subject, recorded, occurrence)
);
COMMENT ON TABLE complaint IS 'Unverified consumer reports. Of the complainant only the state is kept.';

-- Subjects of the FTC's list in lower case with single spaces. A NULL category says nothing about the caller.
CREATE TABLE complaint_subject (
  subject text COLLATE "C" PRIMARY KEY CHECK (subject = lower(subject) AND subject !~ '  '),
  category smallint REFERENCES reputation_category
);
INSERT INTO complaint_subject (subject, category) VALUES
  ('calls pretending to be government, businesses, or family and friends', 15),
  ('charities', 4),
  ('computer & technical support', 12),
  ('dropped call or no message', NULL),
  ('energy, solar, & utilities', 6),
  ('home improvement & cleaning', 6),
  ('home security & alarms', 6),
  ('lotteries, prizes & sweepstakes', 14),
  ('medical & prescriptions', 6),
  ('no subject provided', NULL),
  ('other', NULL),
  ('reducing your debt (credit cards, mortgage, student loans)', 6),
  ('vacation & timeshares', 13),
  ('warranties & protection plans', 6),
  ('work from home & other ways to make money', 7);

-- The last score of each number with complaints, and why.
CREATE TABLE complaint_score (
  phone e164 PRIMARY KEY,
  country country_code,
  level reputation_level NOT NULL,
  category smallint REFERENCES reputation_category,
  score double precision NOT NULL,
  reports integer NOT NULL,
  independent_reports integer NOT NULL,
  -- Of the complaints that count; NULL if none does any more.
  first_reported_at timestamptz,
  last_reported_at timestamptz,
  rule_version text COLLATE "C" NOT NULL,
  scored_at timestamptz NOT NULL
);

CREATE TABLE redress (
  redress_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  phone e164 NOT NULL,
  reason text NOT NULL CHECK (reason ~ '\S'),
  cleared_by text NOT NULL,
  cleared_at timestamptz NOT NULL DEFAULT now(),
  level_before reputation_level,
  category_before smallint,
  source_before text COLLATE "C"
);
CREATE INDEX redress_phone ON redress (phone, cleared_at DESC);
COMMENT ON TABLE redress IS 'Numbers cleared by an operator, with the reason. Rows are only added.';
