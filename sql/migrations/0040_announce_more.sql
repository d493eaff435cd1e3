-- Compatible with older workers: yes (new objects; what older workers change is announced too).
-- More that webhooks announce: disputes of labels, loads of feeds that are held, and revisions of brands that were approved before.
-- As the triggers of before, these write with the rights of their owner.

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
