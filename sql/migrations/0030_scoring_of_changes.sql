-- Compatible with older workers: yes (new indexes, and columns that they leave empty: a night after one of theirs scores all numbers).
-- A night scores the numbers that were reported since the last scoring and those that have a label, not all.

-- The ages of days in the scoring: as long as none is younger in the next one, no number gains points without a report.
ALTER TABLE scoring_run
  ADD COLUMN days date[],
  ADD COLUMN ages integer[],
  ADD COLUMN scored_all boolean,
  -- The transactions that it saw are numbered by this database cluster.
  ADD COLUMN cluster text COLLATE "C";

CREATE INDEX complaint_load ON complaint (load_id);
CREATE INDEX complaint_score_labelled ON complaint_score (phone) WHERE level <> 'NEUTRAL';

COMMENT ON TABLE complaint_score IS 'The result of the rule for each number with complaints, as of scored_at. Of a number without a label that is the night of its last report.';
