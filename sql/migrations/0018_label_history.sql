-- Compatible with older workers: yes (new objects, columns that may be NULL; triggers note what older workers change).
-- Every change of a published label with its cause, what each scoring saw, disputes of labels, and keys bound to a brand.

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
  cause text COLLATE "C" NOT NULL CHECK (cause ~ '^[a-z_]{1,40}$'),
  -- Of a scoring: the version of its rule, and the instant that it evaluated complaints at.
  rule_version text COLLATE "C",
  evaluated_at timestamptz,
  load_id bigint,
  redress_id bigint,
  -- Counts and days of the complaints that counted; nothing of a complainant.
  evidence jsonb,
  PRIMARY KEY (phone, event_id)
);
COMMENT ON TABLE label_event IS 'Changes of published labels, each with its cause. Rows are only added, and kept for at least 400 days.';
CREATE INDEX label_event_at ON label_event USING brin (at);

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

-- Statement-level triggers with transition tables, so that no path can change a label without an event. Numbers without a label are
-- filtered out before anything else is done with them: bench/label-history.ts has what this costs a load.
CREATE FUNCTION record_labels_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  given jsonb := label_cause_given();
  moment timestamptz := clock_timestamp();
BEGIN
  INSERT INTO label_event (phone, at, level_before, level, category, source, cause, rule_version, evaluated_at, load_id, redress_id, evidence)
  SELECT phone, moment, 'NEUTRAL', reputation_level, reputation_category, reputation_source,
    coalesce(given ->> 'cause', label_cause_of(reputation_source)), given ->> 'ruleVersion', (given ->> 'evaluatedAt')::timestamptz,
    CASE WHEN reputation_source = 'feed' THEN feed_load_id END, (given ->> 'redressId')::bigint,
    CASE WHEN reputation_source = 'complaints' THEN label_evidence(phone) END
  FROM new_rows
  WHERE reputation_level <> 'NEUTRAL'
  ORDER BY phone;
  RETURN NULL;
END $$;

CREATE FUNCTION record_labels_updated() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
  given jsonb := label_cause_given();
  moment timestamptz := clock_timestamp();
BEGIN
  INSERT INTO label_event (phone, at, level_before, category_before, source_before, level, category, source, cause, rule_version, evaluated_at, load_id, redress_id, evidence)
  WITH labelled AS MATERIALIZED (
    SELECT phone FROM old_rows WHERE reputation_level <> 'NEUTRAL'
    UNION
    SELECT phone FROM new_rows WHERE reputation_level <> 'NEUTRAL'
  ), before AS (
    SELECT phone, reputation_level AS level, reputation_category AS category, reputation_source AS source FROM old_rows JOIN labelled USING (phone)
  ), after AS (
    SELECT phone, reputation_level AS level, reputation_category AS category, reputation_source AS source, feed_load_id FROM new_rows JOIN labelled USING (phone)
  )
  SELECT phone, moment, coalesce(before.level, 'NEUTRAL'), before.category, before.source, coalesce(after.level, 'NEUTRAL'), after.category, after.source,
    coalesce(given ->> 'cause', label_cause_of(after.source)), given ->> 'ruleVersion', (given ->> 'evaluatedAt')::timestamptz,
    CASE WHEN after.source = 'feed' THEN after.feed_load_id END, (given ->> 'redressId')::bigint,
    CASE WHEN after.source = 'complaints' THEN label_evidence(phone) END
  FROM before FULL JOIN after USING (phone)
  WHERE (before.level, before.category, before.source) IS DISTINCT FROM (after.level, after.category, after.source)
  ORDER BY phone;
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

-- Labels from before there was a history: since when they stand is not known.
INSERT INTO label_event (phone, level_before, level, category, source, cause)
SELECT phone, 'NEUTRAL', reputation_level, reputation_category, reputation_source, 'before_history'
FROM phone_number
WHERE reputation_level <> 'NEUTRAL'
ORDER BY phone;

CREATE FUNCTION refuse_early_deletion() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF EXISTS (SELECT FROM old_rows WHERE at > now() - interval '400 days') THEN
    RAISE EXCEPTION 'rows of % are kept for 400 days', TG_TABLE_NAME USING ERRCODE = 'insufficient_privilege';
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER label_event_append_only BEFORE UPDATE OR TRUNCATE ON label_event
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_change();
CREATE TRIGGER label_event_retention AFTER DELETE ON label_event REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_early_deletion();
ALTER TABLE label_event ENABLE ALWAYS TRIGGER label_event_append_only;
ALTER TABLE label_event ENABLE ALWAYS TRIGGER label_event_retention;

-- What each scoring saw, so that it can be done again later over what was known then.
CREATE TABLE scoring_run (
  scoring_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  evaluated_at timestamptz NOT NULL,
  rule_version text COLLATE "C" NOT NULL,
  -- The snapshot of the statement that scored, as text of type pg_snapshot.
  transactions text NOT NULL,
  recorded_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  recorded_by xid8 NOT NULL DEFAULT pg_current_xact_id()
);
COMMENT ON TABLE scoring_run IS 'One row a scoring of complaints: its instant, its rule, and the transactions that it saw.';

-- The transaction that brought a load or a clearing in; NULL for those from before.
ALTER TABLE feed_load ADD COLUMN merged_by xid8;
ALTER TABLE redress ADD COLUMN recorded_by xid8;
ALTER TABLE redress ALTER COLUMN recorded_by SET DEFAULT pg_current_xact_id();

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

-- A key that sees the numbers of one brand only.
ALTER TABLE api_key ADD COLUMN brand_handle text COLLATE "C";

-- Of a clearing the API reads when it was, not who did it or why; of a load only when it came.
GRANT SELECT ON label_event, scoring_run, complaint_score TO caller_trust_reader;
GRANT SELECT (phone, country, reputation_level, reputation_category, reputation_source, display_name, display_description, display_detail, display_image,
  feed_level, feed_category, feed_load_id, cleared_at) ON phone_number TO caller_trust_reader;
GRANT SELECT (phone, cleared_at) ON redress TO caller_trust_reader;
GRANT SELECT (load_id, requested_at) ON feed_load TO caller_trust_reader;
