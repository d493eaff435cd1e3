-- Compatible with older workers: yes (there are none).
-- The schema of the service: every table with its constraints, indexes, comments, functions, triggers and the rows that it starts with.
-- Roles and their privileges are in sql/access: each run of the migrations repeats them.


-- Text domains: the values that every table is made of. What they refuse can never reach an artefact.

-- E.164 number with its plus sign.
CREATE DOMAIN e164 AS text COLLATE "C"
  -- The length by itself: bounded repetition in a regular expression takes 1 us more.
  CONSTRAINT e164_form CHECK (VALUE ~ '^\+[1-9][0-9]+$' AND octet_length(VALUE) BETWEEN 9 AND 16);

-- ISO 3166-1 alpha-2.
CREATE DOMAIN country_code AS text COLLATE "C"
  CONSTRAINT country_code_form CHECK (VALUE ~ '^[A-Z]{2}$');

CREATE DOMAIN reputation_level AS text COLLATE "C"
  CONSTRAINT reputation_level_known CHECK (VALUE IN ('NEUTRAL', 'SPAM', 'FRAUD'));

-- Text that is at once valid COPY text and plain TSV: NFC, no C0 or C1 control, no backslash,
-- no line or paragraph separator, no bidi control. Absent text is NULL, never empty.
CREATE DOMAIN clean_text AS text COLLATE "C"
  CONSTRAINT clean_text_characters CHECK (VALUE !~ E'[\\u0001-\\u001F\\u007F-\\u009F\\\\\\u061C\\u200E\\u200F\\u2028-\\u202E\\u2066-\\u2069]')
  CONSTRAINT clean_text_nfc CHECK (VALUE IS NFC NORMALIZED)
  CONSTRAINT clean_text_present CHECK (VALUE <> '');


-- Trails: rows that are only added. Their triggers are ENABLE ALWAYS, so that they hold in a session that replays replicated changes too.

CREATE FUNCTION refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'rows of % are only ever added', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
END
$$;

CREATE FUNCTION refuse_early_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM old_rows WHERE at > now() - interval '400 days') THEN
    RAISE EXCEPTION 'rows of % are kept for 400 days', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END $$;


-- Numbers: one row a phone number, what the caches publish of it, and where that comes from.

CREATE TABLE reputation_category (
  category smallint PRIMARY KEY,
  name clean_text NOT NULL UNIQUE,
  level reputation_level NOT NULL CHECK (level <> 'NEUTRAL'),
  UNIQUE (category, level)
);
COMMENT ON TABLE reputation_category IS 'Published category ids. Append only: an id never changes its meaning.';
INSERT INTO reputation_category (category, name, level) VALUES
  (1, 'general_spam', 'SPAM'),
  (2, 'debt_collector', 'SPAM'),
  (3, 'political', 'SPAM'),
  (4, 'non_profit', 'SPAM'),
  (5, 'survey', 'SPAM'),
  (6, 'telemarketer', 'SPAM'),
  (7, 'scam', 'FRAUD'),
  (8, 'extortion', 'FRAUD'),
  (9, 'phishing', 'FRAUD'),
  (10, 'robocaller', 'SPAM'),
  (11, 'tax_scam', 'FRAUD'),
  (12, 'tech_support_scam', 'FRAUD'),
  (13, 'vacation_scam', 'FRAUD'),
  (14, 'lucky_winner_scam', 'FRAUD'),
  (15, 'government_impersonation', 'FRAUD');

CREATE TABLE phone_number (
  phone e164 PRIMARY KEY,
  country country_code,
  -- What is published.
  reputation_level reputation_level NOT NULL DEFAULT 'NEUTRAL',
  reputation_category smallint,
  display_name clean_text,
  display_description clean_text,
  display_detail clean_text,
  display_image clean_text,
  -- Whose word the published reputation is.
  reputation_source text COLLATE "C" CHECK (reputation_source IN ('feed', 'complaints', 'redress')),
  -- The last word of a reputation feed, also while redress overrules it.
  feed_level reputation_level,
  feed_category smallint,
  feed_load_id bigint,
  cleared_at timestamptz,
  CONSTRAINT phone_number_category_fits CHECK (
    reputation_category IS NULL
    OR (reputation_level = 'SPAM' AND reputation_category IN (1, 2, 3, 4, 5, 6, 10))
    OR (reputation_level = 'FRAUD' AND reputation_category IN (7, 8, 9, 11, 12, 13, 14, 15))),
  CONSTRAINT phone_number_display_fits CHECK (
    octet_length(display_name) <= 128 AND octet_length(display_description) <= 512
    AND octet_length(display_detail) <= 1024 AND octet_length(display_image) <= 512)
);
-- Countries are listed by one look-up each.
CREATE INDEX phone_number_country ON phone_number (country, phone);
COMMENT ON TABLE phone_number IS 'One row a known number. Every row that has a country is in that country''s profile cache.';

CREATE TABLE protected_number (
  protection_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- What `value` is: one number, the start of numbers, or a pattern of the numbering plan with an underscore for any digit (LIKE: a
  -- regular expression takes ten times as long).
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('number', 'prefix', 'plan')),
  value text COLLATE "C" NOT NULL,
  -- Patterns of LIKE: a number that matches one of them is not protected by this row.
  exceptions text[] NOT NULL DEFAULT '{}',
  reason text NOT NULL CHECK (reason ~ '\S'),
  added_by text NOT NULL,
  added_at timestamptz NOT NULL DEFAULT now(),
  removed_by text,
  removed_reason text CHECK (removed_reason ~ '\S'),
  removed_at timestamptz,
  CONSTRAINT protected_number_value CHECK (
    value ~ CASE kind WHEN 'number' THEN '^\+[1-9][0-9]{7,14}$' WHEN 'prefix' THEN '^\+[1-9][0-9]{2,13}$' ELSE '^\+[1-9][0-9_]{7,14}$' END),
  CONSTRAINT protected_number_removed CHECK ((removed_at IS NULL) = (removed_by IS NULL) AND (removed_at IS NULL) = (removed_reason IS NULL))
);
CREATE UNIQUE INDEX protected_number_once ON protected_number (value) WHERE removed_at IS NULL;
COMMENT ON TABLE protected_number IS 'Numbers that may never be labelled. A row that is removed stays, with who removed it and why.';
-- Short codes (911, 112, 988, 116xxx) are no E.164 numbers: rows that name one are refused.
INSERT INTO protected_number (kind, value, reason, added_by) VALUES
  ('plan', '+1___5551212', 'Directory assistance: line 555-1212 of each area code, also of toll-free ones.', 'numbering plan'),
  ('prefix', '+888', 'Country code for telecommunications in disaster relief.', 'numbering plan'),
  ('number', '+18002738255', 'United States: 988 Suicide and Crisis Lifeline.', 'public service'),
  ('number', '+18002221222', 'United States: Poison Control.', 'public service'),
  ('number', '+18007997233', 'United States: National Domestic Violence Hotline.', 'public service'),
  ('number', '+18006564673', 'United States: National Sexual Assault Hotline.', 'public service'),
  ('number', '+18004224453', 'United States: Childhelp National Child Abuse Hotline.', 'public service'),
  ('number', '+18008435678', 'United States: National Center for Missing and Exploited Children.', 'public service'),
  ('number', '+18006213362', 'United States: Federal Emergency Management Agency, assistance.', 'public service'),
  ('number', '+18004248802', 'United States: National Response Center.', 'public service'),
  ('number', '+18002324636', 'United States: Centers for Disease Control and Prevention.', 'public service'),
  ('number', '+18006686868', 'Canada: Kids Help Phone.', 'public service'),
  ('number', '+18447647669', 'Canada: poison centres.', 'public service'),
  ('number', '+18008291040', 'United States: Internal Revenue Service.', 'public service'),
  ('number', '+18007721213', 'United States: Social Security Administration.', 'public service');
INSERT INTO protected_number (kind, value, exceptions, reason, added_by)
SELECT 'plan', '+1___' || code || '____', '{+1800%,+1833%,+1844%,+1855%,+1866%,+1877%,+1888%}',
  'Central office codes 211, 511 and 911 of geographic area codes carry no subscribers: emergency calls of wireless phones are routed under such numbers.',
  'numbering plan'
FROM unnest(ARRAY['211', '511', '911']) AS code;

CREATE VIEW protection_in_force AS
SELECT kind, value || CASE kind WHEN 'prefix' THEN '%' ELSE '' END AS pattern, exceptions
FROM protected_number
WHERE removed_at IS NULL;

-- The protected ones of many numbers. Exact numbers are found by hash; few pass the patterns and have their exceptions looked at.
CREATE FUNCTION protected_among(phones text[]) RETURNS SETOF text LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT phone
  FROM (SELECT unnest(phones) COLLATE "C" AS phone) AS given
  WHERE phone IN (SELECT pattern FROM protection_in_force WHERE kind = 'number')
    OR (phone LIKE ANY (ARRAY(SELECT pattern FROM protection_in_force WHERE kind <> 'number'))
      AND EXISTS (
        SELECT FROM protection_in_force AS p
        WHERE p.kind <> 'number' AND phone LIKE p.pattern AND phone NOT LIKE ALL (p.exceptions)))
$$;

CREATE FUNCTION is_protected_number(phone text) RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT EXISTS (SELECT FROM protected_among(ARRAY[phone]))
$$;

-- For triggers: a label of a protected number is withheld by the statement that would publish it, or refused.
CREATE FUNCTION refuse_label(phone text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'a protected number can not be labelled'
    USING ERRCODE = 'check_violation', CONSTRAINT = 'phone_number_not_protected', DETAIL = phone;
END $$;


-- Feeds: loads of files, and the rows that were refused.

CREATE TABLE feed_load (
  load_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  feed text COLLATE "C" NOT NULL CHECK (feed IN ('reputation', 'directory', 'complaints')),
  -- Which provider the file is from; loads are compared with those of the same feed and source.
  source text COLLATE "C" NOT NULL DEFAULT '',
  file_name text NOT NULL,
  file_sha256 text COLLATE "C" NOT NULL CHECK (file_sha256 ~ '^[0-9a-f]{64}$'),
  file_bytes bigint NOT NULL CHECK (file_bytes >= 0),
  options jsonb NOT NULL DEFAULT '{}',
  submitted_by text NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'running', 'held', 'done', 'failed', 'discarded')),
  requested_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  finished_at timestamptz,
  -- Order of the parts of its dates, as given or as told from all of them.
  date_form text COLLATE "C" CHECK (date_form IN ('mdy', 'dmy', 'serial')),
  rows_given bigint,
  rows_accepted bigint,
  rows_rejected bigint,
  -- Accepted rows that a later row of the same file overrules.
  rows_superseded bigint,
  -- Accepted complaints that are too old to count at any time after the submission.
  rows_too_old bigint,
  -- Rows of the database that the load made or changed.
  rows_changed bigint,
  -- Labels that the load gave and that are withheld, since their numbers are protected.
  labels_withheld bigint,
  rejects_by_code jsonb NOT NULL DEFAULT '{}',
  -- Shares and counts by which gates compare loads (FeedMeasures).
  measures jsonb,
  -- The gates that held it, with figures and limits (GateBreach[]); kept when it is released.
  gates jsonb NOT NULL DEFAULT '[]',
  decision text COLLATE "C" CHECK (decision IN ('release', 'discard')),
  decided_by text,
  decided_reason text CHECK (decided_reason ~ '\S'),
  decided_at timestamptz,
  -- The transaction that brought it in.
  merged_by xid8,
  failure_code text,
  failure_reason text,
  CONSTRAINT feed_load_adds_up CHECK (state <> 'done' OR rows_accepted + rows_rejected = rows_given),
  CONSTRAINT feed_load_held_by CHECK (state <> 'held' OR gates <> '[]'),
  CONSTRAINT feed_load_decided CHECK ((decision IS NULL) = (decided_at IS NULL) AND (decision IS NULL) = (decided_by IS NULL) AND (decision IS NULL) = (decided_reason IS NULL))
);
CREATE INDEX feed_load_due ON feed_load (load_id) WHERE state IN ('queued', 'running');
CREATE INDEX feed_load_kind ON feed_load (feed, source, load_id DESC) WHERE state = 'done';
CREATE INDEX feed_load_held ON feed_load (load_id) WHERE state = 'held';

CREATE TABLE feed_reject (
  load_id bigint NOT NULL REFERENCES feed_load ON DELETE CASCADE,
  line_number bigint NOT NULL CHECK (line_number > 0),
  code text COLLATE "C" NOT NULL,
  reason text NOT NULL,
  -- Start of the row with unprintable bytes escaped; for complaints without the complainant's fields.
  excerpt text NOT NULL,
  PRIMARY KEY (load_id, line_number)
);


-- Complaints: reports of consumers, and how they are scored.

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
CREATE INDEX complaint_load ON complaint (load_id);
-- Pruning looks for the oldest complaints.
CREATE INDEX complaint_reported ON complaint USING brin (reported_at);
COMMENT ON TABLE complaint IS 'Unverified consumer reports. Of the complainant only the state is kept.';

-- A day without a row is one on which the feed was silent: labels do not age on it.
CREATE TABLE complaint_day (
  load_id bigint NOT NULL REFERENCES feed_load,
  day date NOT NULL,
  complaints bigint NOT NULL CHECK (complaints > 0),
  PRIMARY KEY (load_id, day)
);
COMMENT ON TABLE complaint_day IS 'Complaints of a load a day of report (UTC), also those that were known before. Rows outlive the complaints.';

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

CREATE TABLE complaint_score (
  phone e164 PRIMARY KEY,
  country country_code,
  level reputation_level NOT NULL,
  category smallint REFERENCES reputation_category,
  -- Points.
  score double precision NOT NULL,
  reports integer NOT NULL,
  independent_reports integer NOT NULL,
  days integer NOT NULL,
  states integer NOT NULL,
  -- Of the complaints that count; NULL if none does any more.
  first_reported_at timestamptz,
  last_reported_at timestamptz,
  rule_version text COLLATE "C" NOT NULL,
  scored_at timestamptz NOT NULL
);
CREATE INDEX complaint_score_labelled ON complaint_score (phone) WHERE level <> 'NEUTRAL';
COMMENT ON TABLE complaint_score IS 'The result of the rule for each number with complaints, as of scored_at. Of a number without a label that is the night of its last report.';

CREATE TABLE scoring_rule (
  scoring_rule_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  version text COLLATE "C" NOT NULL,
  moved_by text NOT NULL CHECK (moved_by ~ '\S'),
  reason text NOT NULL CHECK (reason ~ '\S'),
  moved_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE scoring_rule IS 'Which rule version labels numbers by their complaints, since when, and who decided it.';
INSERT INTO scoring_rule (version, moved_by, reason) VALUES ('complaints/2', 'migration', 'new installation');

-- What each scoring saw, so that it can be done again later over what was known then.
CREATE TABLE scoring_run (
  scoring_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  evaluated_at timestamptz NOT NULL,
  rule_version text COLLATE "C" NOT NULL,
  -- The ages of days in the scoring: as long as none is younger in the next one, no number gains points without a report.
  days date[] NOT NULL,
  ages integer[] NOT NULL,
  scored_all boolean NOT NULL,
  -- The snapshot of the statement that scored, as text of type pg_snapshot, and the database cluster that numbers its transactions.
  transactions text NOT NULL,
  cluster text COLLATE "C" NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  recorded_by xid8 NOT NULL DEFAULT pg_current_xact_id()
);
COMMENT ON TABLE scoring_run IS 'One row a scoring of complaints: its instant, its rule, and the transactions that it saw.';

-- Ranges at risk: blocks of 1,000 numbers from which several were reported lately. Evidence about a block, never a label of a number.
CREATE TABLE spam_range (
  -- A phone without its last three digits.
  prefix text COLLATE "C" PRIMARY KEY CHECK (prefix ~ '^\+[1-9][0-9]{4,11}$'),
  country country_code,
  risk text COLLATE "C" NOT NULL CHECK (risk IN ('ELEVATED', 'HIGH', 'SEVERE')),
  lift integer NOT NULL CHECK (lift > 0),
  numbers_reported integer NOT NULL CHECK (numbers_reported > 0),
  -- Days in UTC: listed without a break since, and listed until if nothing more is reported.
  since date NOT NULL,
  until date NOT NULL,
  rule_version text COLLATE "C" NOT NULL
);
COMMENT ON TABLE spam_range IS 'Blocks of 1,000 numbers at risk as of the last night. No label of a number.';


-- Labels: clearings, every change of a published label with its cause, and disputes.

CREATE TABLE redress (
  redress_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  phone e164 NOT NULL,
  reason text NOT NULL CHECK (reason ~ '\S'),
  cleared_by text NOT NULL,
  cleared_at timestamptz NOT NULL DEFAULT now(),
  level_before reputation_level,
  category_before smallint,
  source_before text COLLATE "C",
  -- The transaction that brought it in.
  recorded_by xid8 NOT NULL DEFAULT pg_current_xact_id()
);
CREATE INDEX redress_phone ON redress (phone, cleared_at DESC);
COMMENT ON TABLE redress IS 'Numbers cleared by an operator, with the reason. Rows are only added.';

-- One row a change of a number's published level, category or source. Rows are only added; housekeeping removes those past their retention.
CREATE TABLE label_event (
  event_id bigint GENERATED ALWAYS AS IDENTITY,
  phone e164 NOT NULL,
  at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Of two changes of a number the later event id is the later change: the first one holds the row until it commits. Which of them
  -- a night has published, its snapshot says.
  changed_by xid8 NOT NULL DEFAULT pg_current_xact_id(),
  -- A number that was not known, or is not any more, is NEUTRAL.
  level_before reputation_level NOT NULL,
  category_before smallint,
  source_before text COLLATE "C",
  level reputation_level NOT NULL,
  category smallint,
  source text COLLATE "C",
  cause text COLLATE "C" NOT NULL CHECK (cause IN ('feed', 'complaints', 'clearing', 'dispute', 'protection', 'removed', 'other')),
  -- Of a scoring: the version of its rule, and the instant that it evaluated complaints at.
  rule_version text COLLATE "C",
  evaluated_at timestamptz,
  load_id bigint,
  redress_id bigint,
  -- Counts and days of the complaints that counted; nothing of a complainant.
  evidence jsonb,
  PRIMARY KEY (phone, event_id)
);
CREATE INDEX label_event_at ON label_event USING brin (at);
COMMENT ON TABLE label_event IS 'Changes of published labels, each with its cause. Rows are only added, and kept for at least 400 days.';

CREATE TRIGGER label_event_append_only BEFORE UPDATE OR TRUNCATE ON label_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER label_event_retention AFTER DELETE ON label_event REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_early_deletion();
ALTER TABLE label_event ENABLE ALWAYS TRIGGER label_event_append_only;
ALTER TABLE label_event ENABLE ALWAYS TRIGGER label_event_retention;

-- What the transaction says of the changes that it makes: {"cause", "ruleVersion", "evaluatedAt", "redressId"}, each optional.
CREATE FUNCTION label_cause_given() RETURNS jsonb LANGUAGE sql STABLE AS $$
  SELECT coalesce(nullif(current_setting('caller_trust.label_cause', true), ''), '{}')::jsonb
$$;

-- The cause that the source of a published label shows by itself.
CREATE FUNCTION label_cause_of(source text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT CASE source WHEN 'redress' THEN 'clearing' ELSE coalesce(source, 'other') END
$$;

-- The score of a number as evidence: whatever of these its row has.
CREATE FUNCTION label_evidence(number text) RETURNS jsonb LANGUAGE plpgsql STABLE AS $$
DECLARE
  score jsonb := (SELECT to_jsonb(s) FROM complaint_score AS s WHERE s.phone = number);
BEGIN
  RETURN jsonb_strip_nulls(jsonb_build_object(
    'score', score -> 'score', 'reports', score -> 'reports', 'independentReports', score -> 'independent_reports',
    'states', score -> 'states', 'days', score -> 'days',
    'firstReportDay', ((score ->> 'first_reported_at')::timestamptz AT TIME ZONE 'UTC')::date,
    'lastReportDay', ((score ->> 'last_reported_at')::timestamptz AT TIME ZONE 'UTC')::date));
END $$;

-- Statement-level triggers with transition tables, so that no path can change a label without an event, or label a protected number.
-- Numbers without a label are filtered out before anything else is done with them, and what is the same for all rows is evaluated once:
-- bench/label-history.ts has what this costs a statement.
CREATE FUNCTION record_labels_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;

CREATE FUNCTION record_labels_updated() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;

CREATE FUNCTION record_labels_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO label_event (phone, level_before, category_before, source_before, level, cause)
  SELECT phone, reputation_level, reputation_category, reputation_source, 'NEUTRAL', coalesce(label_cause_given() ->> 'cause', 'removed')
  FROM old_rows
  WHERE reputation_level <> 'NEUTRAL'
  ORDER BY phone;
  RETURN NULL;
END $$;

-- Before it: afterwards there is nothing to look at.
CREATE FUNCTION record_labels_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO label_event (phone, level_before, category_before, source_before, level, cause)
  SELECT phone, reputation_level, reputation_category, reputation_source, 'NEUTRAL', 'removed'
  FROM phone_number
  WHERE reputation_level <> 'NEUTRAL'
  ORDER BY phone;
  RETURN NULL;
END $$;

CREATE TRIGGER phone_number_label_insert AFTER INSERT ON phone_number REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION record_labels_inserted();
CREATE TRIGGER phone_number_label_update AFTER UPDATE ON phone_number REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION record_labels_updated();
CREATE TRIGGER phone_number_label_delete AFTER DELETE ON phone_number REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION record_labels_deleted();
CREATE TRIGGER phone_number_label_truncate BEFORE TRUNCATE ON phone_number
  FOR EACH STATEMENT EXECUTE FUNCTION record_labels_truncated();
ALTER TABLE phone_number ENABLE ALWAYS TRIGGER phone_number_label_insert;
ALTER TABLE phone_number ENABLE ALWAYS TRIGGER phone_number_label_update;
ALTER TABLE phone_number ENABLE ALWAYS TRIGGER phone_number_label_delete;
ALTER TABLE phone_number ENABLE ALWAYS TRIGGER phone_number_label_truncate;

-- Requests from outside to look at a label again.
CREATE TABLE number_dispute (
  dispute_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  phone e164 NOT NULL,
  reason text NOT NULL CHECK (reason ~ '\S'),
  filed_by text NOT NULL CHECK (filed_by ~ '\S'),
  filed_at timestamptz NOT NULL DEFAULT now(),
  idempotency_key text COLLATE "C" NOT NULL CHECK (idempotency_key ~ '^[!-~]{1,128}$'),
  request_sha256 text COLLATE "C" NOT NULL CHECK (request_sha256 ~ '^[0-9a-f]{64}$'),
  -- How to reach who disputes: sealed under a key of its own, with a keyed digest by which its open disputes are counted.
  sealed_contact bytea,
  wrapped_key bytea,
  master_key_id text COLLATE "C",
  contact_digest bytea,
  -- What was published when it came in.
  level reputation_level NOT NULL,
  category smallint,
  source text COLLATE "C",
  state text COLLATE "C" NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'cleared', 'upheld')),
  decided_at timestamptz,
  decided_by text,
  decision_reason text,
  redress_id bigint REFERENCES redress,
  UNIQUE (filed_by, idempotency_key),
  CONSTRAINT number_dispute_contact CHECK ((sealed_contact IS NULL) = (wrapped_key IS NULL) AND (sealed_contact IS NULL) = (master_key_id IS NULL)),
  CONSTRAINT number_dispute_decided CHECK (
    (state = 'open') = (decided_at IS NULL) AND (state = 'open') = (decided_by IS NULL) AND (state = 'open') = (decision_reason IS NULL)
    AND (state = 'cleared') = (redress_id IS NOT NULL))
);
CREATE INDEX number_dispute_phone ON number_dispute (phone, dispute_id);
CREATE INDEX number_dispute_open ON number_dispute (dispute_id) WHERE state = 'open';
CREATE INDEX number_dispute_open_of_contact ON number_dispute (contact_digest) WHERE state = 'open';
COMMENT ON TABLE number_dispute IS 'Disputes of labels, each with its decision.';


-- Nights, their builds, the versions of each artefact, and the pointer to the published one.
-- In these tables country is '' for a cache that is not split by country.

CREATE TABLE night_run (
  run_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  night_date date NOT NULL,
  trigger text COLLATE "C" NOT NULL CHECK (trigger IN ('schedule', 'operator')),
  only_cache text COLLATE "C",
  only_country text COLLATE "C",
  accept_shrink boolean NOT NULL DEFAULT false,
  -- The instant at which complaints decay and brands must be live. NULL: when the night opens.
  evaluated_at timestamptz,
  state text COLLATE "C" NOT NULL DEFAULT 'due' CHECK (state IN ('due', 'running', 'finished')),
  outcome text COLLATE "C" CHECK (outcome IN ('ok', 'partial', 'failed')),
  -- Fence: raised each time that an attempt opens the night. A late finisher of an older one is refused.
  generation integer NOT NULL DEFAULT 0,
  requested_by text NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT now(),
  -- A night is asked for once under one key: pressed twice, or sent again after a lost answer, it is one night.
  idempotency_key text COLLATE "C" CHECK (idempotency_key ~ '^[!-~]{1,128}$'),
  -- Of what was asked: the same key with another request is refused. (The row has the instant at which the night was opened in its place.)
  request_sha256 text COLLATE "C" CHECK (request_sha256 ~ '^[0-9a-f]{64}$'),
  opened_at timestamptz,
  as_of timestamptz,
  snapshot text,
  -- The snapshot as text of type pg_snapshot, and the database cluster whose transactions it counts, for labels as of a past night.
  transactions text,
  cluster text COLLATE "C",
  finished_at timestamptz,
  failure_code text,
  failure_reason text,
  report jsonb,
  CONSTRAINT night_run_finished CHECK ((state = 'finished') = (outcome IS NOT NULL)),
  CONSTRAINT night_run_key_has_request CHECK ((idempotency_key IS NULL) = (request_sha256 IS NULL))
);
-- Two schedulers make one night.
CREATE UNIQUE INDEX night_run_scheduled_once ON night_run (night_date) WHERE trigger = 'schedule';
CREATE UNIQUE INDEX night_run_requested_once ON night_run (requested_by, idempotency_key) WHERE idempotency_key IS NOT NULL;
CREATE INDEX night_run_open ON night_run (run_id) WHERE state <> 'finished';

CREATE TABLE build (
  build_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id bigint NOT NULL REFERENCES night_run,
  generation integer NOT NULL,
  cache text COLLATE "C" NOT NULL,
  country text COLLATE "C" NOT NULL,
  state text COLLATE "C" NOT NULL DEFAULT 'pending'
    CHECK (state IN ('pending', 'running', 'built', 'published', 'unchanged', 'failed')),
  attempts integer NOT NULL DEFAULT 0,
  -- Tries that ended without an outcome, because their process crashed or lost the database.
  crashes integer NOT NULL DEFAULT 0,
  started_at timestamptz,
  built_at timestamptz,
  -- Rows written so far, and those that are expected: an estimate of the planner, then SQL's count in the snapshot of the night.
  rows bigint,
  rows_expected bigint,
  -- The published version that the rows were compared with; NULL: there was none.
  basis_version integer,
  -- The facts of the version that it becomes when it is published (VersionFacts in pipelines/caches/artefact-facts.ts).
  facts jsonb,
  -- Labels that differ from the published version (LabelMoves); NULL where that is not known.
  moves jsonb,
  -- The gates that held it, with figures and limits (NightBreach[]).
  gates jsonb NOT NULL DEFAULT '[]',
  failure_code text,
  failure_reason text,
  UNIQUE (run_id, generation, cache, country),
  CONSTRAINT build_has_facts CHECK (state NOT IN ('built', 'published', 'unchanged') OR facts IS NOT NULL)
);

CREATE TABLE night_release (
  release_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  cache text COLLATE "C" NOT NULL,
  country text COLLATE "C" NOT NULL,
  -- The build that was held: what later nights differ by is measured against its figures.
  build_id bigint NOT NULL REFERENCES build,
  reason text NOT NULL CHECK (reason ~ '\S'),
  released_by text NOT NULL,
  released_at timestamptz NOT NULL DEFAULT now(),
  -- The build that was published by it.
  used_by_build_id bigint REFERENCES build
);
CREATE INDEX night_release_open ON night_release (cache, country, release_id DESC) WHERE used_by_build_id IS NULL;
COMMENT ON TABLE night_release IS 'Held files that an operator let through by name. Each counts for the next night that publishes the file.';

CREATE TABLE artefact_version (
  cache text COLLATE "C" NOT NULL,
  country text COLLATE "C" NOT NULL,
  version integer NOT NULL CHECK (version > 0),
  build_id bigint NOT NULL REFERENCES build,
  as_of timestamptz NOT NULL,
  built_at timestamptz NOT NULL,
  published_at timestamptz NOT NULL DEFAULT now(),
  -- What was published (VersionFacts in pipelines/caches/artefact-facts.ts), the deltas that lead to it included.
  facts jsonb NOT NULL,
  PRIMARY KEY (cache, country, version)
);
COMMENT ON TABLE artefact_version IS 'Every version that was published. Rows are only added.';

CREATE TABLE publication (
  cache text COLLATE "C" NOT NULL,
  country text COLLATE "C" NOT NULL,
  -- NULL while a cache has failed builds only.
  version integer,
  status text COLLATE "C" NOT NULL CHECK (status IN ('fresh', 'stale')),
  stale_code text,
  stale_reason text,
  stale_since timestamptz,
  -- Snapshot time of the last night whose rows gave exactly the published bytes.
  confirmed_as_of timestamptz,
  PRIMARY KEY (cache, country),
  FOREIGN KEY (cache, country, version) REFERENCES artefact_version,
  CONSTRAINT publication_stale_has_reason CHECK ((status = 'stale') = (stale_code IS NOT NULL))
);
COMMENT ON TABLE publication IS 'The one pointer: which version of each artefact readers are given.';


-- Keys of the API.

CREATE TABLE api_key (
  key_id text COLLATE "C" PRIMARY KEY CHECK (key_id ~ '^[a-z0-9]{12}$'),
  client text NOT NULL CHECK (client ~ '\S'),
  -- HMAC-SHA-256 of the 32 random bytes under the service's secret; the key itself is not stored.
  key_hash bytea NOT NULL UNIQUE CHECK (octet_length(key_hash) = 32),
  scopes text[] NOT NULL CHECK (cardinality(scopes) > 0),
  -- The brand whose numbers alone the key sees.
  brand_handle text COLLATE "C",
  created_at timestamptz NOT NULL DEFAULT now(),
  expires_at timestamptz,
  revoked_at timestamptz
);
CREATE INDEX api_key_client ON api_key (client);

-- Which secret the hashes of this database were made with, so that another one is refused instead of making keys that fail.
CREATE TABLE service_secret (
  name text COLLATE "C" PRIMARY KEY CHECK (name IN ('api-key-secret')),
  -- HMAC-SHA-256 of the name under the secret, which cannot be found from it.
  fingerprint bytea NOT NULL CHECK (octet_length(fingerprint) = 32),
  recorded_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE service_secret IS 'Fingerprints of the secrets with which hashes of this database were made.';


-- Branding: managed brands, letters of authorization, numbers, and the trail of what was done to them.

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
  -- The person, where requested_by does not say who it was, so that another one decides it: of a dropped folder the account that owns it.
  submitted_by text CHECK (submitted_by ~ '\S'),
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
-- The list of requests for branding, newest first, by each of its filters.
CREATE INDEX branding_operation_newest_of_owner ON branding_operation (owner, operation_id);
CREATE INDEX branding_operation_newest_of_brand ON branding_operation ((request ->> 'handle'), operation_id);
CREATE INDEX branding_operation_newest_standing ON branding_operation ((coalesce(result ->> 'outcome', state)), operation_id);

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
-- Brands, and new revisions of approved ones, that wait for a person.
CREATE INDEX brand_waiting ON brand (handle) WHERE pending_revision IS NOT NULL;

CREATE TABLE brand_revision (
  brand_id bigint NOT NULL REFERENCES brand,
  revision integer NOT NULL CHECK (revision > 0),
  profile jsonb NOT NULL,
  display_name clean_text NOT NULL CHECK (char_length(display_name) <= 32),
  -- What was found about the brand itself. A person has to decide where a letter alone cannot.
  findings jsonb NOT NULL DEFAULT '[]',
  needs_decision boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  operation_id bigint NOT NULL REFERENCES branding_operation,
  PRIMARY KEY (brand_id, revision)
);
CREATE INDEX brand_revision_operation ON brand_revision (operation_id);

-- Forms of letters of authorization that the service has issued: rules alone approve nothing else.
CREATE TABLE issued_form (
  form_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- 128 random bits in base32, printed on every page.
  code text COLLATE "C" NOT NULL UNIQUE CHECK (code ~ '^[A-Z2-7]{26}$'),
  owner clean_text NOT NULL,
  -- Of the bytes that were handed out: the first revision of a signed form must be these.
  sha256 text COLLATE "C" NOT NULL UNIQUE CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bigint NOT NULL CHECK (bytes > 0),
  form_version text COLLATE "C" NOT NULL,
  language text COLLATE "C" NOT NULL CHECK (language ~ '^[a-z]{2}$'),
  -- What the form says: every field that is approved with it, the signer, and the numbers in ascending order.
  content jsonb NOT NULL,
  -- Page and rectangle that are reserved for the signature.
  signature_place jsonb NOT NULL,
  issued_at timestamptz NOT NULL,
  issued_by text NOT NULL,
  valid_until timestamptz NOT NULL CHECK (valid_until > issued_at),
  -- The brand whose letter it became; no other one can use it.
  brand_id bigint REFERENCES brand,
  -- The brand that it was issued for, where the request named one.
  handle text COLLATE "C",
  -- A revoked form approves nothing.
  revoked_at timestamptz,
  revoked_by text,
  revoked_reason text,
  CONSTRAINT issued_form_revoked CHECK (num_nulls(revoked_at, revoked_by, revoked_reason) IN (0, 3))
);
CREATE INDEX issued_form_owner ON issued_form (owner, form_id);
CREATE INDEX issued_form_brand ON issued_form (brand_id) WHERE brand_id IS NOT NULL;

CREATE TABLE letter (
  letter_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  brand_id bigint NOT NULL REFERENCES brand,
  -- The revision that it came with or was checked against.
  revision integer NOT NULL,
  -- The company that gives the authorization. The letter holds for numbers only while the published revision is of this company.
  legal_name clean_text NOT NULL,
  document_id bigint NOT NULL REFERENCES document,
  operation_id bigint NOT NULL UNIQUE REFERENCES branding_operation,
  form_id bigint REFERENCES issued_form,
  state text COLLATE "C" NOT NULL CHECK (state IN ('submitted', 'in_review', 'approved', 'rejected', 'expiring', 'expired', 'withdrawn')),
  submitted_at timestamptz NOT NULL,
  rule_version text COLLATE "C" NOT NULL,
  -- pdf or png, and its pages; unknown of a file that could not be read.
  format text COLLATE "C",
  pages integer,
  signed_on date,
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
CREATE INDEX letter_form ON letter (form_id) WHERE form_id IS NOT NULL;
-- Letters that wait for a person: the review desk, and their count on every page.
CREATE INDEX letter_waiting ON letter (letter_id) WHERE state IN ('submitted', 'in_review');

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
  -- Where a page of the console begins is in its address, where no phone number may be.
  number_id bigint GENERATED ALWAYS AS IDENTITY,
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
-- A number that waits blocks nobody: several brands may claim it, and a person who decides one of them sees the others.
CREATE UNIQUE INDEX brand_number_one_live_brand ON brand_number (phone) WHERE state IN ('verified', 'suspended');
CREATE UNIQUE INDEX brand_number_number_id ON brand_number (number_id);
CREATE INDEX brand_number_phone ON brand_number (phone);
CREATE INDEX brand_number_state ON brand_number (brand_id, state, phone);

-- One row while a number may show a brand: it is there while number, brand and letter are all approved, with the instants between which
-- that holds.
CREATE TABLE branded_number (
  phone e164 PRIMARY KEY,
  brand_handle clean_text NOT NULL,
  display_name clean_text NOT NULL,
  display_description clean_text,
  display_detail clean_text,
  display_image clean_text,
  live_from timestamptz NOT NULL,
  live_until timestamptz,
  CONSTRAINT branded_number_interval CHECK (live_until IS NULL OR live_until > live_from),
  CONSTRAINT branded_number_display_fits CHECK (
    octet_length(display_name) <= 128 AND octet_length(display_description) <= 512
    AND octet_length(display_detail) <= 1024 AND octet_length(display_image) <= 512)
);
CREATE INDEX branded_number_brand ON branded_number (brand_handle);
CREATE INDEX branded_number_live_until ON branded_number (live_until) WHERE live_until IS NOT NULL;
COMMENT ON TABLE branded_number IS 'One live brand a number; published while live_from <= the night''s instant < live_until.';

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
CREATE TRIGGER branding_event_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON branding_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE branding_event ENABLE ALWAYS TRIGGER branding_event_append_only;

-- The API shows states and findings: nothing sealed, no request, no profile but the columns of this view.
CREATE VIEW brand_overview AS
  SELECT b.brand_id, b.handle, b.owner, b.state, b.created_at, b.changed_at, b.approved_at, b.approved_revision, b.pending_revision,
    r.display_name, r.profile ->> 'legalName' AS legal_name, r.profile ->> 'dba' AS dba, r.profile ->> 'website' AS website,
    r.profile ->> 'country' AS country, r.profile -> 'callReasons' AS call_reasons, r.profile ->> 'logo' AS logo,
    r.profile ->> 'logoSha256' AS logo_sha256, r.profile ->> 'relationship' AS relationship, p.display_name AS pending_display_name
  FROM brand AS b
  -- Lateral with a limit: over a plain join the planner sorted all brands of an owner for a page, 955 ms instead of 9 for 100,000.
  CROSS JOIN LATERAL (
    SELECT display_name, profile FROM brand_revision
    WHERE brand_id = b.brand_id AND revision = coalesce(b.approved_revision, b.pending_revision, b.last_revision)
    LIMIT 1) AS r
  LEFT JOIN brand_revision AS p ON p.brand_id = b.brand_id AND p.revision = b.pending_revision;

-- The console lists and counts these, and a metric has their age.
CREATE VIEW waiting_brand AS
SELECT b.brand_id, b.handle, b.owner, b.state, b.approved_revision, p.display_name AS pending_display_name, p.findings, p.created_at AS waiting_since
FROM brand AS b
JOIN brand_revision AS p ON p.brand_id = b.brand_id AND p.revision = b.pending_revision
WHERE b.pending_revision IS NOT NULL
  AND (b.state IN ('submitted', 'in_review') OR (b.approved_revision IS NOT NULL AND b.state <> 'withdrawn'))
  AND NOT EXISTS (SELECT FROM letter AS l WHERE l.brand_id = b.brand_id AND l.revision = b.pending_revision AND l.state IN ('submitted', 'in_review'));
COMMENT ON VIEW waiting_brand IS 'Brands, and pending revisions of approved ones, that wait for a person while no letter of theirs does.';


-- Proofs that a brand answers its numbers: codes that calls give out, and what they proved.

-- One proof stands for one number, or for a block of consecutive numbers of which some, drawn at random, are called.
CREATE TABLE number_proof (
  proof_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  brand_id bigint NOT NULL REFERENCES brand,
  state text COLLATE "C" NOT NULL DEFAULT 'open' CHECK (state IN ('open', 'proven', 'failed')),
  language text COLLATE "C" NOT NULL CHECK (language ~ '^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$'),
  requested_by text NOT NULL CHECK (requested_by ~ '\S'),
  requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- When it was proven or failed; why it failed.
  ended_at timestamptz,
  failure_code text COLLATE "C",
  valid_until timestamptz,
  CONSTRAINT number_proof_ended CHECK (
    (state = 'open') = (ended_at IS NULL) AND (state = 'failed') = (failure_code IS NOT NULL) AND (state = 'proven') = (valid_until IS NOT NULL))
);
CREATE INDEX number_proof_open ON number_proof (brand_id, proof_id) WHERE state = 'open';
CREATE INDEX number_proof_due ON number_proof (proof_id) WHERE state = 'open';

-- The numbers that a proof stands for. It ends for a number that leaves the brand or that another brand takes.
CREATE TABLE number_proof_member (
  proof_id bigint NOT NULL REFERENCES number_proof,
  phone e164 NOT NULL,
  left_at timestamptz,
  PRIMARY KEY (proof_id, phone)
);
CREATE INDEX number_proof_member_phone ON number_proof_member (phone, proof_id);

-- The calls of a proof, one a number that is called. The code itself is never stored.
CREATE TABLE number_proof_call (
  call_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  proof_id bigint NOT NULL REFERENCES number_proof,
  phone e164 NOT NULL,
  requested_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- HMAC-SHA-256 of the code under a secret that is not in the database; NULL until a code is made.
  code_hash bytea CHECK (octet_length(code_hash) = 32),
  expires_at timestamptz,
  -- When the caller had taken the call.
  placed_at timestamptz,
  tries integer NOT NULL DEFAULT 0 CHECK (tries >= 0),
  confirmed_at timestamptz,
  UNIQUE (proof_id, phone),
  CONSTRAINT number_proof_call_code CHECK ((code_hash IS NULL) = (expires_at IS NULL) AND (placed_at IS NULL OR code_hash IS NOT NULL))
);
CREATE INDEX number_proof_call_phone ON number_proof_call (phone, requested_at);

-- No path by which a number changes can forget the end of its proofs.
CREATE FUNCTION end_number_proofs() RETURNS trigger LANGUAGE plpgsql AS $$
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
END $$;
CREATE TRIGGER brand_number_end_proofs_insert AFTER INSERT ON brand_number REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION end_number_proofs();
CREATE TRIGGER brand_number_end_proofs_update AFTER UPDATE ON brand_number REFERENCING NEW TABLE AS changed_rows
  FOR EACH STATEMENT EXECUTE FUNCTION end_number_proofs();


-- Names that nobody is shown under without a person: an operator's own, beside the list that comes with the service.

CREATE TABLE protected_name (
  protected_name_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name clean_text NOT NULL,
  -- The name as it is compared: the same name in another spelling is protected already.
  folded text COLLATE "C" NOT NULL CHECK (folded <> ''),
  category text COLLATE "C" NOT NULL CHECK (category ~ '^[a-z]+$'),
  country text COLLATE "C" CHECK (country ~ '^[A-Z]{2}$'),
  -- An ordinary word or a family name: in a longer name it counts only beside generic words.
  common boolean NOT NULL,
  reason text NOT NULL CHECK (reason ~ '\S'),
  added_by text NOT NULL CHECK (added_by ~ '\S'),
  added_at timestamptz NOT NULL DEFAULT now(),
  removed_by text CHECK (removed_by ~ '\S'),
  removed_reason text CHECK (removed_reason ~ '\S'),
  removed_at timestamptz,
  CONSTRAINT protected_name_removed CHECK ((removed_at IS NULL) = (removed_by IS NULL) AND (removed_at IS NULL) = (removed_reason IS NULL))
);
CREATE UNIQUE INDEX protected_name_once ON protected_name (folded) WHERE removed_at IS NULL;
COMMENT ON TABLE protected_name IS 'Names of an operator that always go to a person. A row that is removed stays, with who removed it and why.';

-- The row is its own trail: it is removed once, and nothing else of it changes.
CREATE FUNCTION keep_protected_name() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_OP = 'UPDATE' AND OLD.removed_at IS NULL AND NEW.removed_at IS NOT NULL
    AND to_jsonb(NEW) - ARRAY['removed_at', 'removed_by', 'removed_reason'] = to_jsonb(OLD) - ARRAY['removed_at', 'removed_by', 'removed_reason'] THEN
    RETURN NEW;
  END IF;
  RAISE EXCEPTION 'an entry of protected_name is only added, and removed once';
END $$;
CREATE TRIGGER protected_name_kept BEFORE UPDATE OR DELETE ON protected_name FOR EACH ROW EXECUTE FUNCTION keep_protected_name();
ALTER TABLE protected_name ENABLE ALWAYS TRIGGER protected_name_kept;


-- Audio: recordings, batches of verifications with their results, models that were added, drift reports, voiceprints.

-- Audio by content. The file is in the audio directory under its digest; the row stays when the file is deleted.
CREATE TABLE recording (
  sha256 text COLLATE "C" PRIMARY KEY CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  bytes bigint NOT NULL CHECK (bytes >= 0),
  stored_at timestamptz NOT NULL DEFAULT now(),
  -- Retention counts from here.
  last_submitted_at timestamptz NOT NULL DEFAULT now(),
  deleted_at timestamptz,
  deleted_why text,
  CONSTRAINT recording_deleted CHECK ((deleted_at IS NULL) = (deleted_why IS NULL))
);
CREATE INDEX recording_retention ON recording (last_submitted_at) WHERE deleted_at IS NULL;

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
CREATE INDEX verification_batch_of_demo ON verification_batch (batch_id) WHERE mode = 'webDemo';
CREATE INDEX verification_batch_requested_at ON verification_batch (requested_at);

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
  format text COLLATE "C" NOT NULL,
  codec text COLLATE "C" NOT NULL,
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
  public_id uuid NOT NULL UNIQUE DEFAULT gen_random_uuid(),
  batch_id bigint NOT NULL REFERENCES verification_batch,
  -- Its place in the batch from 1. The job that performs it follows from that.
  line integer NOT NULL CHECK (line > 0),
  -- The path or name as it was given.
  source text NOT NULL,
  audio_sha256 text COLLATE "C" REFERENCES recording,
  requested_model text COLLATE "C" NOT NULL,
  -- The resolved one; null until it is known, or where none could be.
  model text COLLATE "C",
  state text COLLATE "C" NOT NULL DEFAULT 'queued' CHECK (state IN ('queued', 'performing', 'performed', 'performedWithoutScore', 'error')),
  result_id bigint REFERENCES verification_result,
  -- What the decision of the result says, beside state and model: lists of all clients are narrowed to it.
  label text COLLATE "C",
  -- True if the result had been made before, so that nothing was computed for this item.
  reused boolean NOT NULL DEFAULT false,
  reason text COLLATE "C",
  reason_detail text,
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  queued_at timestamptz NOT NULL DEFAULT now(),
  started_at timestamptz,
  ended_at timestamptz,
  PRIMARY KEY (batch_id, line),
  CONSTRAINT verification_outcome CHECK (
    CASE state WHEN 'performed' THEN result_id IS NOT NULL AND reason IS NULL AND ended_at IS NOT NULL
               WHEN 'performedWithoutScore' THEN result_id IS NOT NULL AND reason IS NOT NULL AND ended_at IS NOT NULL
               WHEN 'error' THEN result_id IS NULL AND reason IS NOT NULL AND ended_at IS NOT NULL
               ELSE result_id IS NULL AND reason IS NULL AND ended_at IS NULL END)
);
CREATE INDEX verification_waiting_audio ON verification (audio_sha256) WHERE state IN ('queued', 'performing');
-- By these the console lists verifications of all clients.
CREATE INDEX verification_newest_in_state ON verification (state, batch_id, line);
CREATE INDEX verification_newest_of_model ON verification (model, batch_id, line) WHERE model IS NOT NULL;
CREATE INDEX verification_newest_with_label ON verification (label, batch_id, line) WHERE label IS NOT NULL;

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
CREATE TRIGGER model_default_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON model_default
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE model_default ENABLE ALWAYS TRIGGER model_default_append_only;

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
CREATE INDEX voice_verification_audio ON voice_verification (audio_sha256, voice_verification_id);

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
-- What happened to a voiceprint beside comparisons, of which there can be any number.
CREATE INDEX voiceprint_event_uncompared ON voiceprint_event (voiceprint_id, event_id) WHERE action <> 'verified';
CREATE TRIGGER voiceprint_event_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON voiceprint_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
ALTER TABLE voiceprint_event ENABLE ALWAYS TRIGGER voiceprint_event_append_only;


-- Console: users, their sessions, and the trail of what was done there.

CREATE TABLE console_user (
  user_id int GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9][a-z0-9._-]{0,39}$'),
  role text COLLATE "C" NOT NULL CHECK (role IN ('viewer', 'reviewer', 'operator', 'agency')),
  -- scrypt (RFC 7914) with its parameters and salt; the password is not stored.
  password_hash text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  password_changed_at timestamptz NOT NULL DEFAULT now()
);

-- The owners for whom a user acts. A user with the role agency sees theirs only; whoever acts for an owner decides nothing of it.
CREATE TABLE console_user_owner (
  user_id int NOT NULL REFERENCES console_user ON DELETE CASCADE,
  owner clean_text NOT NULL,
  PRIMARY KEY (user_id, owner)
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


-- Signing: what is published is signed in the roles of TUF. The sealed online keys, and the signed documents as they are served.

-- One row: who signs locks it, and the API sees by the revision that there is something new.
CREATE TABLE trust_state (
  singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
  revision bigint NOT NULL DEFAULT 0
);
COMMENT ON TABLE trust_state IS 'The lock of who signs, and a number that rises with each signature.';
INSERT INTO trust_state DEFAULT VALUES;

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


-- Remote work: files of clients on their way, and the requests that became work.

CREATE TABLE upload (
  upload_id uuid PRIMARY KEY DEFAULT gen_random_uuid(),
  client text NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('recording', 'letter', 'numbers', 'feed')),
  bytes bigint NOT NULL CHECK (bytes > 0),
  reserved_bytes bigint NOT NULL,
  sha256 text COLLATE "C" CHECK (sha256 ~ '^[0-9a-f]{64}$'),
  created_at timestamptz NOT NULL DEFAULT now(),
  active_at timestamptz NOT NULL DEFAULT now(),
  completed_at timestamptz,
  CONSTRAINT upload_reserved CHECK (reserved_bytes BETWEEN 0 AND bytes),
  CONSTRAINT upload_completed CHECK (completed_at IS NULL OR sha256 IS NOT NULL)
);
CREATE INDEX upload_active ON upload (active_at);
CREATE INDEX upload_open ON upload (client) WHERE completed_at IS NULL;
COMMENT ON TABLE upload IS 'Files that remote clients send, until a request uses them. The bytes are in INTAKE_DIR, under the id.';
COMMENT ON COLUMN upload.sha256 IS 'The digest that the client has announced; of a complete upload, that of its bytes.';
COMMENT ON COLUMN upload.reserved_bytes IS 'Bytes of the disk that are kept for it: its file is no larger.';
COMMENT ON COLUMN upload.active_at IS 'When bytes of it last arrived; of a complete upload, when a request last used it. An idle one is removed.';

CREATE TABLE intake_request (
  request_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  client text NOT NULL,
  key_id text COLLATE "C" NOT NULL,
  brand_handle text COLLATE "C",
  idempotency_key text COLLATE "C" NOT NULL CHECK (idempotency_key ~ '^[!-~]{1,128}$'),
  kind text COLLATE "C" NOT NULL CHECK (kind IN ('batch', 'branding', 'load', 'dispute')),
  request_sha256 text COLLATE "C" NOT NULL CHECK (request_sha256 ~ '^[0-9a-f]{64}$'),
  object text COLLATE "C" NOT NULL,
  address inet,
  accepted_at timestamptz NOT NULL DEFAULT now(),
  UNIQUE (client, idempotency_key)
);
CREATE INDEX intake_request_object ON intake_request (kind, object);
CREATE INDEX intake_request_accepted_at ON intake_request (accepted_at);
COMMENT ON TABLE intake_request IS 'Which client asked for what through the intake: the trail of what was accepted, and the answers to repeated requests. Kept for INTAKE_REQUEST_RETENTION_DAYS.';
COMMENT ON COLUMN intake_request.brand_handle IS 'The brand that the key was bound to.';
COMMENT ON COLUMN intake_request.object IS 'Public id of the batch, or id of the operation, load or dispute.';


-- Webhooks: who is told of changes, what has changed, and the state of each delivery.

CREATE TABLE webhook_endpoint (
  endpoint_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  name text COLLATE "C" NOT NULL UNIQUE CHECK (name ~ '^[a-z0-9](-?[a-z0-9]){0,62}$'),
  url text NOT NULL CHECK (url ~ '^https?://'),
  -- Null: events of every brand, and those of none.
  brand_id bigint REFERENCES brand,
  -- Types and groups of types (`letter.*`); empty: all.
  event_types text[] COLLATE "C" NOT NULL DEFAULT '{}',
  state text COLLATE "C" NOT NULL DEFAULT 'enabled' CHECK (state IN ('enabled', 'disabled')),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  created_by text NOT NULL CHECK (created_by ~ '\S'),
  disabled_at timestamptz,
  disabled_by text,
  disabled_reason text,
  -- Since when every attempt has failed; null after a success.
  failing_since timestamptz,
  last_attempt_at timestamptz,
  last_success_at timestamptz,
  CONSTRAINT webhook_endpoint_disabled CHECK ((state = 'disabled') = (disabled_at IS NOT NULL) AND (state = 'disabled') = (disabled_by IS NOT NULL))
);
COMMENT ON TABLE webhook_endpoint IS 'Addresses to which events are sent.';

CREATE TABLE webhook_secret (
  secret_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- What the wrapped key is bound to.
  public_id uuid NOT NULL UNIQUE,
  endpoint_id bigint NOT NULL REFERENCES webhook_endpoint ON DELETE CASCADE,
  sealed_secret bytea NOT NULL,
  wrapped_key bytea NOT NULL,
  master_key_id text COLLATE "C" NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  -- Null: until the next rotation.
  ends_at timestamptz
);
CREATE INDEX webhook_secret_endpoint ON webhook_secret (endpoint_id);
COMMENT ON TABLE webhook_secret IS 'The secrets that sign deliveries, sealed under the master key: one an endpoint, two during a rotation.';

CREATE TABLE webhook_event (
  event_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  -- Follows from the change, and is the same in every delivery.
  message_id text COLLATE "C" NOT NULL UNIQUE,
  type text COLLATE "C" NOT NULL CHECK (type ~ '^[a-z]+\.[a-z_]+$'),
  brand_id bigint,
  occurred_at timestamptz NOT NULL,
  data jsonb NOT NULL,
  -- Null: for every endpoint that takes it. Else for this one alone: a test.
  only_endpoint_id bigint REFERENCES webhook_endpoint ON DELETE CASCADE
);
CREATE INDEX webhook_event_occurred_at ON webhook_event (occurred_at);
COMMENT ON TABLE webhook_event IS 'What has changed, as it is announced. Kept for WEBHOOK_RETENTION_DAYS.';

CREATE TABLE webhook_delivery (
  delivery_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event_id bigint NOT NULL REFERENCES webhook_event ON DELETE CASCADE,
  endpoint_id bigint NOT NULL REFERENCES webhook_endpoint ON DELETE CASCADE,
  state text COLLATE "C" NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'delivered', 'failed')),
  -- Since it was created or replayed.
  attempts integer NOT NULL DEFAULT 0 CHECK (attempts >= 0),
  replays integer NOT NULL DEFAULT 0 CHECK (replays >= 0),
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  first_attempt_at timestamptz,
  last_attempt_at timestamptz,
  next_attempt_at timestamptz DEFAULT clock_timestamp(),
  -- Of the last attempt.
  answer_status integer,
  failure text COLLATE "C",
  UNIQUE (event_id, endpoint_id),
  CONSTRAINT webhook_delivery_pending CHECK ((state = 'pending') = (next_attempt_at IS NOT NULL))
);
CREATE INDEX webhook_delivery_due ON webhook_delivery (endpoint_id, next_attempt_at) WHERE state = 'pending';
CREATE INDEX webhook_delivery_newest ON webhook_delivery (endpoint_id, delivery_id);
CREATE INDEX webhook_delivery_failed ON webhook_delivery (endpoint_id, last_attempt_at) WHERE state = 'failed';
CREATE INDEX webhook_delivery_undelivered ON webhook_delivery (state, delivery_id) WHERE state <> 'delivered';
COMMENT ON TABLE webhook_delivery IS 'An event for one endpoint, with the outcome of the attempts to deliver it.';

CREATE FUNCTION is_announced_to(endpoint webhook_endpoint, event webhook_event) RETURNS boolean LANGUAGE sql STABLE AS $$
  SELECT (event.only_endpoint_id IS NULL OR event.only_endpoint_id = endpoint.endpoint_id)
    AND (endpoint.brand_id IS NULL OR endpoint.brand_id IS NOT DISTINCT FROM event.brand_id OR event.only_endpoint_id IS NOT NULL)
    AND (endpoint.event_types = '{}' OR event.type = ANY (endpoint.event_types)
      OR split_part(event.type, '.', 1) || '.*' = ANY (endpoint.event_types) OR event.only_endpoint_id IS NOT NULL)
$$;

CREATE FUNCTION add_webhook_deliveries() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO webhook_delivery (event_id, endpoint_id)
  SELECT NEW.event_id, e.endpoint_id FROM webhook_endpoint AS e WHERE e.state = 'enabled' AND is_announced_to(e, NEW);
  RETURN NULL;
END $$;
CREATE TRIGGER webhook_event_deliveries AFTER INSERT ON webhook_event
  FOR EACH ROW WHEN (NEW.only_endpoint_id IS NULL) EXECUTE FUNCTION add_webhook_deliveries();

-- The instant is part of the source: after a restore of the database its ids are used again, for other changes.
CREATE FUNCTION webhook_message_id(source text, at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT 'msg_' || left(encode(sha256(convert_to(source || '/' || extract(epoch FROM at)::text, 'UTF8')), 'hex'), 32)
$$;

CREATE FUNCTION webhook_instant(at timestamptz) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT to_char(at AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
$$;


-- Announcements: triggers write an event of a webhook in the transaction of its change, so that nothing is announced that did not happen,
-- and nothing that happened is lost. They run as their owner: the role that submits work ends a batch of which every result is known, and
-- must not be able to write an event of its own.

-- One event a statement and change of state: a request moves up to 100,000 numbers at once. What is submitted is decided in the same
-- transaction unless it is a number, whose brand may still wait for a letter.
CREATE FUNCTION announce_branding() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
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
END $$;
CREATE TRIGGER branding_event_announced AFTER INSERT ON branding_event
  REFERENCING NEW TABLE AS new_rows FOR EACH STATEMENT EXECUTE FUNCTION announce_branding();

-- At the commit: a revision that rules approve at once, in the transaction that has proposed it, is not announced as pending.
CREATE FUNCTION announce_revision() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
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
END $$;
CREATE CONSTRAINT TRIGGER branding_event_revision AFTER INSERT ON branding_event
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (NEW.subject = 'brand' AND NEW.after IN ('approved', 'suspended', 'expired') AND NEW.action IN ('propose_revision', 'approve_revision', 'reject_revision'))
  EXECUTE FUNCTION announce_revision();

-- A dispute is announced to the brand that has its number, if there is one: at most one brand has it in these states.
CREATE FUNCTION announce_dispute() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
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
END $$;
CREATE TRIGGER number_dispute_opened AFTER INSERT ON number_dispute FOR EACH ROW EXECUTE FUNCTION announce_dispute();
CREATE TRIGGER number_dispute_decided AFTER UPDATE OF state ON number_dispute
  FOR EACH ROW WHEN (OLD.state = 'open' AND NEW.state <> 'open') EXECUTE FUNCTION announce_dispute();

CREATE FUNCTION announce_load() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
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
END $$;
CREATE TRIGGER feed_load_announced AFTER UPDATE OF state ON feed_load
  FOR EACH ROW WHEN ((OLD.state <> 'held' AND NEW.state = 'held') OR (OLD.state = 'held' AND NEW.state IN ('queued', 'discarded')))
  EXECUTE FUNCTION announce_load();

-- At the commit, when every item has its outcome.
CREATE FUNCTION announce_batch() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
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
END $$;
CREATE CONSTRAINT TRIGGER verification_batch_announced AFTER UPDATE OF state ON verification_batch
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.state IS DISTINCT FROM NEW.state AND NEW.state IN ('done', 'cancelled')) EXECUTE FUNCTION announce_batch();

-- A night is announced once, by the worst of its files.
CREATE FUNCTION announce_night() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public, pg_temp AS $$
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
END $$;
CREATE CONSTRAINT TRIGGER night_run_announced AFTER UPDATE OF state ON night_run
  DEFERRABLE INITIALLY DEFERRED FOR EACH ROW
  WHEN (OLD.state IS DISTINCT FROM NEW.state AND NEW.state = 'finished') EXECUTE FUNCTION announce_night();


-- Caches: a view each says which rows a cache has, under the names of its columns. Brands are live at the instant of the night, which its
-- transactions set; for others it is now.

CREATE FUNCTION evaluated_at() RETURNS timestamptz LANGUAGE sql STABLE PARALLEL SAFE AS $$
  SELECT coalesce(nullif(current_setting('caller_trust.evaluated_at', true), '')::timestamptz, now())
$$;

CREATE VIEW cache_branded_phones AS
  SELECT phone, display_name, display_description, display_detail, display_image
  FROM branded_number
  WHERE live_from <= evaluated_at() AND (live_until IS NULL OR live_until > evaluated_at());
COMMENT ON VIEW cache_branded_phones IS 'Every live branded number with the display info of its brand.';

-- A live brand's display info replaces the directory's as a whole.
CREATE VIEW cache_profile_phones AS
  SELECT n.phone, n.country, n.reputation_level, n.reputation_category,
    CASE WHEN b.phone IS NULL THEN n.display_name ELSE b.display_name END AS display_name,
    CASE WHEN b.phone IS NULL THEN n.display_description ELSE b.display_description END AS display_description,
    CASE WHEN b.phone IS NULL THEN n.display_detail ELSE b.display_detail END AS display_detail,
    CASE WHEN b.phone IS NULL THEN n.display_image ELSE b.display_image END AS display_image
  FROM phone_number AS n LEFT JOIN cache_branded_phones AS b ON b.phone = n.phone;
COMMENT ON VIEW cache_profile_phones IS 'Reputation and display info of every known number, by country.';

CREATE VIEW cache_spammer_phones AS
  SELECT phone, reputation_level, reputation_category
  FROM phone_number
  WHERE reputation_level <> 'NEUTRAL';
COMMENT ON VIEW cache_spammer_phones IS 'The SPAM and FRAUD numbers of every country, and of none.';

CREATE VIEW cache_spam_ranges AS
  SELECT prefix, risk, lift, numbers_reported, to_char(since, 'YYYY-MM-DD') AS since, to_char(until, 'YYYY-MM-DD') AS until
  FROM spam_range;
COMMENT ON VIEW cache_spam_ranges IS 'Blocks of numbers at risk.';
