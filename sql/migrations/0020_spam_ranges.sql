-- Compatible with older workers: yes (new objects, and a wider constraint).
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

GRANT SELECT ON spam_range TO caller_trust_reader;

ALTER TABLE change_mark DROP CONSTRAINT change_mark_cache_check;
ALTER TABLE change_mark ADD CONSTRAINT change_mark_cache_check CHECK (cache IN ('phones', 'branded_phones', 'spammer_phones', 'spam_ranges'));

CREATE FUNCTION mark_ranges_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_mark (cache, country, prefix) SELECT DISTINCT 'spam_ranges', '', left(prefix, 8) FROM new_rows;
  RETURN NULL;
END $$;

CREATE FUNCTION mark_ranges_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_mark (cache, country, prefix) SELECT DISTINCT 'spam_ranges', '', left(prefix, 8) FROM old_rows;
  RETURN NULL;
END $$;

-- A TRUNCATE has no rows to look at.
CREATE FUNCTION mark_ranges_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_mark (cache, country, prefix) VALUES ('spam_ranges', '', '+');
  RETURN NULL;
END $$;

-- An update writes new facts of the same prefix: who changes a prefix deletes the row and inserts another.
CREATE TRIGGER spam_range_mark_insert AFTER INSERT ON spam_range REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_ranges_inserted();
CREATE TRIGGER spam_range_mark_update AFTER UPDATE ON spam_range REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_ranges_inserted();
CREATE TRIGGER spam_range_mark_delete AFTER DELETE ON spam_range REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_ranges_deleted();
CREATE TRIGGER spam_range_mark_truncate AFTER TRUNCATE ON spam_range
  FOR EACH STATEMENT EXECUTE FUNCTION mark_ranges_truncated();
-- Also in sessions that replay changes of another server.
ALTER TABLE spam_range ENABLE ALWAYS TRIGGER spam_range_mark_insert;
ALTER TABLE spam_range ENABLE ALWAYS TRIGGER spam_range_mark_update;
ALTER TABLE spam_range ENABLE ALWAYS TRIGGER spam_range_mark_delete;
ALTER TABLE spam_range ENABLE ALWAYS TRIGGER spam_range_mark_truncate;
