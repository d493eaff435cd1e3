-- Compatible with older workers: yes (new objects; what older workers change is announced too, and delivered by later ones).
-- Webhooks: who is told of changes, what has changed, and the state of each delivery. Triggers write an event in the transaction of its
-- change, so that nothing is announced that did not happen, and nothing that happened is lost.

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

-- One event a statement and change of state: a request moves up to 100,000 numbers at once. What is submitted is decided in the same
-- transaction unless it is a number, whose brand may still wait for a letter.
CREATE FUNCTION announce_branding() RETURNS trigger LANGUAGE plpgsql AS $$
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

-- At the commit, when every item has its outcome.
CREATE FUNCTION announce_batch() RETURNS trigger LANGUAGE plpgsql AS $$
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
CREATE FUNCTION announce_night() RETURNS trigger LANGUAGE plpgsql AS $$
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
