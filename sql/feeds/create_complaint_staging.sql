-- Purpose: the staging table for accepted rows of a complaint feed, for one transaction.
-- Parameters: none.
-- Rows: none.
CREATE TEMP TABLE feed_staging (
  phone text COLLATE "C" NOT NULL,
  country text COLLATE "C",
  reported_at timestamptz NOT NULL,
  violated_at timestamptz,
  consumer_state text COLLATE "C",
  subject text COLLATE "C" NOT NULL,
  recorded boolean,
  line_number bigint NOT NULL
) ON COMMIT DROP;
