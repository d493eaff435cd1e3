-- Purpose: the staging table for accepted rows of a reputation feed, for one transaction. Plain types: each value was
-- checked before, and is checked again by the domains of phone_number.
-- Parameters: none.
-- Rows: none.
CREATE TEMP TABLE feed_staging (
  phone text COLLATE "C" NOT NULL,
  country text COLLATE "C",
  level text COLLATE "C" NOT NULL,
  category smallint,
  line_number bigint NOT NULL
) ON COMMIT DROP;
