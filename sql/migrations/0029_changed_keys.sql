-- Compatible with older workers: no (they would not read the keys of a plan, and copy old rows in their place).
-- Marks name keys: a statement that touches at most 65,536 rows marks each of them, so that a night reads these rows alone. One that
-- touches more marks ranges of 7 digits as before, or of 5.

COMMENT ON COLUMN change_mark.prefix IS 'A key that changed, or what the keys of a range have in common: the plus sign and 7 digits, 5 after a statement that changed very much, the plus sign alone after a TRUNCATE.';

CREATE OR REPLACE FUNCTION mark_numbers_inserted() RETURNS trigger LANGUAGE plpgsql SET work_mem = '32MB' AS $$
BEGIN
  IF (SELECT count(*) FROM (SELECT FROM new_rows LIMIT 65537) AS first) <= 65536 THEN
    INSERT INTO change_mark (cache, country, prefix)
    SELECT 'phones', country, phone FROM new_rows WHERE country IS NOT NULL
    UNION ALL
    SELECT 'spammer_phones', '', phone FROM new_rows WHERE reputation_level <> 'NEUTRAL';
    RETURN NULL;
  END IF;
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

CREATE OR REPLACE FUNCTION mark_numbers_deleted() RETURNS trigger LANGUAGE plpgsql SET work_mem = '32MB' AS $$
BEGIN
  IF (SELECT count(*) FROM (SELECT FROM old_rows LIMIT 65537) AS first) <= 65536 THEN
    INSERT INTO change_mark (cache, country, prefix)
    SELECT 'phones', country, phone FROM old_rows WHERE country IS NOT NULL
    UNION ALL
    SELECT 'spammer_phones', '', phone FROM old_rows WHERE reputation_level <> 'NEUTRAL';
    RETURN NULL;
  END IF;
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
CREATE OR REPLACE FUNCTION mark_numbers_updated() RETURNS trigger LANGUAGE plpgsql SET work_mem = '32MB' AS $$
BEGIN
  IF (SELECT count(*) FROM (SELECT FROM new_rows LIMIT 65537) AS first) <= 65536 THEN
    INSERT INTO change_mark (cache, country, prefix)
    SELECT 'phones', country, phone FROM (SELECT country, phone FROM old_rows UNION SELECT country, phone FROM new_rows) AS sides
    WHERE country IS NOT NULL
    UNION ALL
    SELECT 'spammer_phones', '', phone
    FROM (SELECT phone FROM old_rows WHERE reputation_level <> 'NEUTRAL' UNION SELECT phone FROM new_rows WHERE reputation_level <> 'NEUTRAL') AS sides;
    RETURN NULL;
  END IF;
  -- Each side counts.
  INSERT INTO change_mark (cache, country, prefix)
  WITH changed AS MATERIALIZED (
    SELECT country, left(phone, 8) AS prefix, bool_or(reputation_level <> 'NEUTRAL') AS spammer FROM old_rows GROUP BY country, left(phone, 8)
    UNION ALL
    SELECT country, left(phone, 8) AS prefix, bool_or(reputation_level <> 'NEUTRAL') AS spammer FROM new_rows GROUP BY country, left(phone, 8)
  ), marked AS MATERIALIZED (
    SELECT country, CASE WHEN (SELECT count(*) FROM changed) > 20000 THEN left(prefix, 6) ELSE prefix END AS prefix, bool_or(spammer) AS spammer
    FROM changed GROUP BY 1, 2
  )
  SELECT 'phones', country, prefix FROM marked WHERE country IS NOT NULL
  UNION ALL
  SELECT DISTINCT 'spammer_phones', '', prefix FROM marked WHERE spammer;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION mark_brands_inserted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_mark (cache, country, prefix) SELECT 'branded_phones', '', phone FROM new_rows;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION mark_brands_deleted() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_mark (cache, country, prefix) SELECT 'branded_phones', '', phone FROM old_rows;
  RETURN NULL;
END $$;

CREATE OR REPLACE FUNCTION mark_brands_updated() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO change_mark (cache, country, prefix)
  SELECT 'branded_phones', '', phone FROM (SELECT phone FROM old_rows UNION SELECT phone FROM new_rows) AS sides;
  RETURN NULL;
END $$;
