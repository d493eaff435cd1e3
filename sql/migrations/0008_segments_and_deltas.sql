-- Compatible with older workers: no (a build of an older worker would leave no index and no basis, and so force full builds).
-- What a night needs to read only what changed, and what clients need to fetch only that.

-- Which keys changed, of which artefact, and in which transaction: written by the triggers below and never updated, so that
-- writers do not wait for one another. A build reads the marks that its snapshot sees and the snapshot of its basis did
-- not; that alone decides, so no mark can be cleared too early.
CREATE TABLE change_mark (
  changed_by xid8 NOT NULL DEFAULT pg_current_xact_id(),
  cache text COLLATE "C" NOT NULL CHECK (cache IN ('phones', 'branded_phones', 'spammer_phones')),
  -- '' for a cache that is not split by country, '*' for every country.
  country text COLLATE "C" NOT NULL,
  -- The first characters of the phone: the plus sign and 7 digits, or 5 if a statement changed very much; the plus sign
  -- alone after a TRUNCATE.
  prefix text COLLATE "C" NOT NULL
);
COMMENT ON TABLE change_mark IS 'Ranges of keys whose rows changed, until every artefact is built from a later snapshot.';

-- Each side of a change is read once: the rows are kept for it by the statement, and reading them is most of what marks cost.
-- A statement that touches more than 10,000 ranges marks ranges of 5 digits, since most segments have changed then anyway.
CREATE FUNCTION mark_numbers_inserted() RETURNS trigger LANGUAGE plpgsql SET work_mem = '32MB' AS $$
BEGIN
  INSERT INTO change_mark (cache, country, prefix)
  WITH changed AS MATERIALIZED (
    SELECT country, left(phone, 8) AS prefix, bool_or(reputation_level <> 'NEUTRAL') AS spammer FROM new_rows GROUP BY country, left(phone, 8)
  ), marked AS MATERIALIZED (
    SELECT country, CASE WHEN (SELECT count(*) FROM changed) > 10000 THEN left(prefix, 6) ELSE prefix END AS prefix, bool_or(spammer) AS spammer
    FROM changed GROUP BY 1, 2
  )
  SELECT 'phones', country, prefix FROM marked WHERE country IS NOT NULL
  UNION ALL
  SELECT DISTINCT 'spammer_phones', '', prefix FROM marked WHERE spammer;
  RETURN NULL;
END $$;

CREATE FUNCTION mark_numbers_deleted() RETURNS trigger LANGUAGE plpgsql SET work_mem = '32MB' AS $$
BEGIN
  INSERT INTO change_mark (cache, country, prefix)
  WITH changed AS MATERIALIZED (
    SELECT country, left(phone, 8) AS prefix, bool_or(reputation_level <> 'NEUTRAL') AS spammer FROM old_rows GROUP BY country, left(phone, 8)
  ), marked AS MATERIALIZED (
    SELECT country, CASE WHEN (SELECT count(*) FROM changed) > 10000 THEN left(prefix, 6) ELSE prefix END AS prefix, bool_or(spammer) AS spammer
    FROM changed GROUP BY 1, 2
  )
  SELECT 'phones', country, prefix FROM marked WHERE country IS NOT NULL
  UNION ALL
  SELECT DISTINCT 'spammer_phones', '', prefix FROM marked WHERE spammer;
  RETURN NULL;
END $$;

-- Both sides: the number may have moved to another country, or its phone may be another one.
CREATE FUNCTION mark_numbers_updated() RETURNS trigger LANGUAGE plpgsql SET work_mem = '32MB' AS $$
BEGIN
  INSERT INTO change_mark (cache, country, prefix)
  WITH changed AS MATERIALIZED (
    SELECT country, left(phone, 8) AS prefix, bool_or(reputation_level <> 'NEUTRAL') AS spammer FROM old_rows GROUP BY country, left(phone, 8)
    UNION ALL
    SELECT country, left(phone, 8) AS prefix, bool_or(reputation_level <> 'NEUTRAL') AS spammer FROM new_rows GROUP BY country, left(phone, 8)
  ), marked AS MATERIALIZED (
    SELECT country, CASE WHEN (SELECT count(*) FROM changed) > 10000 THEN left(prefix, 6) ELSE prefix END AS prefix, bool_or(spammer) AS spammer
    FROM changed GROUP BY 1, 2
  )
  SELECT 'phones', country, prefix FROM marked WHERE country IS NOT NULL
  UNION ALL
  SELECT DISTINCT 'spammer_phones', '', prefix FROM marked WHERE spammer;
  RETURN NULL;
END $$;

-- A brand shows in the profile cache of its number's country too. Which one that is the night finds out: here another
-- transaction may be about to change it.
CREATE FUNCTION mark_brands_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_mark (cache, country, prefix) SELECT DISTINCT 'branded_phones', '', left(phone, 8) FROM new_rows;
  RETURN NULL;
END $$;

CREATE FUNCTION mark_brands_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_mark (cache, country, prefix) SELECT DISTINCT 'branded_phones', '', left(phone, 8) FROM old_rows;
  RETURN NULL;
END $$;

CREATE FUNCTION mark_brands_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_mark (cache, country, prefix)
  SELECT 'branded_phones', '', prefix FROM (SELECT left(phone, 8) AS prefix FROM old_rows UNION SELECT left(phone, 8) FROM new_rows) AS sides;
  RETURN NULL;
END $$;

-- A TRUNCATE has no rows to look at.
CREATE FUNCTION mark_numbers_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_mark (cache, country, prefix) VALUES ('phones', '*', '+'), ('spammer_phones', '', '+');
  RETURN NULL;
END $$;

CREATE FUNCTION mark_brands_truncated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_mark (cache, country, prefix) VALUES ('phones', '*', '+'), ('branded_phones', '', '+');
  RETURN NULL;
END $$;

CREATE TRIGGER phone_number_mark_insert AFTER INSERT ON phone_number REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_numbers_inserted();
CREATE TRIGGER phone_number_mark_update AFTER UPDATE ON phone_number REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_numbers_updated();
CREATE TRIGGER phone_number_mark_delete AFTER DELETE ON phone_number REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_numbers_deleted();
CREATE TRIGGER phone_number_mark_truncate AFTER TRUNCATE ON phone_number
  FOR EACH STATEMENT EXECUTE FUNCTION mark_numbers_truncated();
CREATE TRIGGER branded_number_mark_insert AFTER INSERT ON branded_number REFERENCING NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_brands_inserted();
CREATE TRIGGER branded_number_mark_update AFTER UPDATE ON branded_number REFERENCING OLD TABLE AS old_rows NEW TABLE AS new_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_brands_updated();
CREATE TRIGGER branded_number_mark_delete AFTER DELETE ON branded_number REFERENCING OLD TABLE AS old_rows
  FOR EACH STATEMENT EXECUTE FUNCTION mark_brands_deleted();
CREATE TRIGGER branded_number_mark_truncate AFTER TRUNCATE ON branded_number
  FOR EACH STATEMENT EXECUTE FUNCTION mark_brands_truncated();

-- A brand that begins or ends between two nights changes rows without a write.
CREATE INDEX branded_number_live_from ON branded_number (live_from);
CREATE INDEX branded_number_live_until ON branded_number (live_until) WHERE live_until IS NOT NULL;

-- What a build is to read, decided when the night opens, and what came of it.
ALTER TABLE build
  ADD COLUMN plan jsonb NOT NULL DEFAULT '{"kind":"full"}',
  ADD COLUMN format text COLLATE "C",
  ADD COLUMN index_sha256 text COLLATE "C",
  ADD COLUMN index_bytes bigint,
  ADD COLUMN segments integer,
  -- Rows that were read from the database; the others were copied.
  ADD COLUMN rows_read bigint,
  -- Segments that the plan took to be unchanged and a full build found to be different; NULL where that was not compared.
  ADD COLUMN segments_differing integer,
  -- [{from, sha256, bytes, added, changed, removed}], the stored deltas from earlier versions to this build.
  ADD COLUMN deltas jsonb NOT NULL DEFAULT '[]';

ALTER TABLE night_run
  ADD COLUMN full_build boolean NOT NULL DEFAULT false,
  -- The snapshot as text of type pg_snapshot, and the database cluster whose transactions it counts.
  ADD COLUMN transactions text,
  ADD COLUMN cluster text COLLATE "C";

-- NULL in versions that were published before there were segments.
ALTER TABLE artefact_version
  ADD COLUMN format text COLLATE "C",
  ADD COLUMN index_sha256 text COLLATE "C",
  ADD COLUMN index_bytes bigint,
  ADD COLUMN segments integer;

-- What the published bytes stand for: marks that this snapshot does not see are the changes since.
ALTER TABLE publication
  ADD COLUMN basis_transactions text,
  ADD COLUMN basis_cluster text COLLATE "C",
  ADD COLUMN basis_evaluated_at timestamptz,
  -- When the bytes were last built in full, not copied in part.
  ADD COLUMN full_as_of timestamptz;

-- A delta leads from an earlier version to the current one.
CREATE TABLE artefact_delta (
  cache text COLLATE "C" NOT NULL,
  country text COLLATE "C" NOT NULL,
  from_version integer NOT NULL,
  version integer NOT NULL,
  file_sha256 text COLLATE "C" NOT NULL,
  file_bytes bigint NOT NULL,
  added bigint NOT NULL,
  changed bigint NOT NULL,
  removed bigint NOT NULL,
  PRIMARY KEY (cache, country, version, from_version),
  FOREIGN KEY (cache, country, version) REFERENCES artefact_version,
  CHECK (from_version < version)
);
COMMENT ON TABLE artefact_delta IS 'Published deltas. Those that lead to the version that the pointer names are served.';

-- Also while a session replays what another server did: a change that is not marked would be published a week late.
ALTER TABLE phone_number ENABLE ALWAYS TRIGGER phone_number_mark_insert;
ALTER TABLE phone_number ENABLE ALWAYS TRIGGER phone_number_mark_update;
ALTER TABLE phone_number ENABLE ALWAYS TRIGGER phone_number_mark_delete;
ALTER TABLE phone_number ENABLE ALWAYS TRIGGER phone_number_mark_truncate;
ALTER TABLE branded_number ENABLE ALWAYS TRIGGER branded_number_mark_insert;
ALTER TABLE branded_number ENABLE ALWAYS TRIGGER branded_number_mark_update;
ALTER TABLE branded_number ENABLE ALWAYS TRIGGER branded_number_mark_delete;
ALTER TABLE branded_number ENABLE ALWAYS TRIGGER branded_number_mark_truncate;

GRANT SELECT ON artefact_delta TO caller_trust_reader;
