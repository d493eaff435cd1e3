-- Compatible with older workers: yes (they read more keys, or build in full where there are too many for them).
-- A statement marks each key of up to 524,288 rows that it touches, instead of 65,536: marks of keys cost it no more than those of
-- ranges (bench/marks.ts), and a night that reads a tenth of a cache by key takes less than a full one (bench/night-incremental.ts).

CREATE FUNCTION marked_keys_max() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 524288';
COMMENT ON FUNCTION marked_keys_max() IS 'Rows that a statement touches at most for each of their keys to be marked; with more of them it marks ranges.';

CREATE OR REPLACE FUNCTION mark_numbers_inserted() RETURNS trigger LANGUAGE plpgsql SET work_mem = '32MB' AS $$
BEGIN
  IF (SELECT count(*) FROM (SELECT FROM new_rows LIMIT marked_keys_max() + 1) AS first) <= marked_keys_max() THEN
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
  IF (SELECT count(*) FROM (SELECT FROM old_rows LIMIT marked_keys_max() + 1) AS first) <= marked_keys_max() THEN
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
  IF (SELECT count(*) FROM (SELECT FROM new_rows LIMIT marked_keys_max() + 1) AS first) <= marked_keys_max() THEN
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

