-- Purpose: the staging table for accepted rows of a directory feed, for one transaction.
-- Parameters: none.
-- Rows: none.
CREATE TEMP TABLE feed_staging (
  phone text COLLATE "C" NOT NULL,
  country text COLLATE "C",
  display_name text COLLATE "C" NOT NULL,
  display_description text COLLATE "C",
  display_detail text COLLATE "C",
  display_image text COLLATE "C",
  line_number bigint NOT NULL
) ON COMMIT DROP;
