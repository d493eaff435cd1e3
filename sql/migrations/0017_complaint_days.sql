-- Compatible with older workers: no (they score complaints by the rule before, and note no days of a load).
-- complaints/2: days on which the complaint feed spoke, what a score consists of, and which rule is in force.

-- A day without a row is one on which the feed was silent: labels do not age on it.
CREATE TABLE complaint_day (
  load_id bigint NOT NULL REFERENCES feed_load,
  day date NOT NULL,
  complaints bigint NOT NULL CHECK (complaints > 0),
  PRIMARY KEY (load_id, day)
);
COMMENT ON TABLE complaint_day IS 'Complaints of a load a day of report (UTC), also those that were known before. Rows outlive the complaints.';
INSERT INTO complaint_day (load_id, day, complaints)
SELECT load_id, (reported_at AT TIME ZONE 'UTC')::date, count(*) FROM complaint GROUP BY 1, 2 ORDER BY 1, 2;

-- Absent in scores of complaints/1. With complaints/2 `score` counts points.
ALTER TABLE complaint_score
  ADD COLUMN days integer,
  ADD COLUMN states integer;

-- Pruning looks for the oldest complaints.
CREATE INDEX complaint_reported ON complaint USING brin (reported_at);

-- The newest row is the rule in force. An installation that has scores keeps its labels as they are until an operator moves it.
CREATE TABLE scoring_rule (
  scoring_rule_id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  version text COLLATE "C" NOT NULL,
  moved_by text NOT NULL CHECK (moved_by ~ '\S'),
  reason text NOT NULL CHECK (reason ~ '\S'),
  moved_at timestamptz NOT NULL DEFAULT now()
);
COMMENT ON TABLE scoring_rule IS 'Which rule version labels numbers by their complaints, since when, and who decided it.';
INSERT INTO scoring_rule (version, moved_by, reason)
SELECT coalesce(max(rule_version), 'complaints/2'), 'migration', CASE WHEN count(*) = 0 THEN 'new installation' ELSE 'in force before' END FROM complaint_score;
