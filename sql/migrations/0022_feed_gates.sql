-- Compatible with older workers: no (a load that is held is unknown to them: they would run it without its gates).
-- What a sender says of a file, what a load was measured to be, and loads that wait for an operator.

ALTER TABLE feed_load
  -- Which provider the file is from; loads are compared with those of the same feed and source.
  ADD COLUMN source text COLLATE "C" NOT NULL DEFAULT '',
  ADD COLUMN options jsonb NOT NULL DEFAULT '{}',
  -- Order of the parts of its dates, as given or as told from all of them.
  ADD COLUMN date_form text COLLATE "C" CHECK (date_form IN ('mdy', 'dmy', 'serial')),
  -- Accepted complaints that are too old to count at any time after the submission.
  ADD COLUMN rows_too_old bigint,
  -- Shares and counts by which gates compare loads (FeedMeasures).
  ADD COLUMN measures jsonb,
  -- The gates that held it, with figures and limits (GateBreach[]); kept when it is released.
  ADD COLUMN gates jsonb NOT NULL DEFAULT '[]',
  ADD COLUMN decision text COLLATE "C" CHECK (decision IN ('release', 'discard')),
  ADD COLUMN decided_by text,
  ADD COLUMN decided_reason text CHECK (decided_reason ~ '\S'),
  ADD COLUMN decided_at timestamptz,
  DROP CONSTRAINT feed_load_state_check,
  ADD CONSTRAINT feed_load_state_check CHECK (state IN ('queued', 'running', 'held', 'done', 'failed', 'discarded')),
  ADD CONSTRAINT feed_load_decided CHECK ((decision IS NULL) = (decided_at IS NULL) AND (decision IS NULL) = (decided_by IS NULL) AND (decision IS NULL) = (decided_reason IS NULL)),
  ADD CONSTRAINT feed_load_held_by CHECK (state <> 'held' OR gates <> '[]');
CREATE INDEX feed_load_kind ON feed_load (feed, source, load_id DESC) WHERE state = 'done';
CREATE INDEX feed_load_held ON feed_load (load_id) WHERE state = 'held';
