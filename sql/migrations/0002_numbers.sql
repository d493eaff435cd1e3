-- Compatible with older workers: yes (new objects only).
-- One row a phone number: what the caches publish, and where it comes from.

CREATE TABLE reputation_category (
  category smallint PRIMARY KEY,
  name clean_text NOT NULL UNIQUE,
  level reputation_level NOT NULL CHECK (level <> 'NEUTRAL'),
  UNIQUE (category, level)
);
COMMENT ON TABLE reputation_category IS 'Published category ids. Append only: an id never changes its meaning.';

INSERT INTO reputation_category (category, name, level) VALUES
  (1, 'general_spam', 'SPAM'),
  (2, 'debt_collector', 'SPAM'),
  (3, 'political', 'SPAM'),
  (4, 'non_profit', 'SPAM'),
  (5, 'survey', 'SPAM'),
  (6, 'telemarketer', 'SPAM'),
  (7, 'scam', 'FRAUD'),
  (8, 'extortion', 'FRAUD'),
  (9, 'phishing', 'FRAUD'),
  (10, 'robocaller', 'SPAM'),
  (11, 'tax_scam', 'FRAUD'),
  (12, 'tech_support_scam', 'FRAUD'),
  (13, 'vacation_scam', 'FRAUD'),
  (14, 'lucky_winner_scam', 'FRAUD'),
  (15, 'government_impersonation', 'FRAUD');

CREATE TABLE phone_number (
  phone e164 PRIMARY KEY,
  country country_code,
  -- What is published.
  reputation_level reputation_level NOT NULL DEFAULT 'NEUTRAL',
  reputation_category smallint,
  display_name clean_text,
  display_description clean_text,
  display_detail clean_text,
  display_image clean_text,
  -- Whose word the published reputation is.
  reputation_source text COLLATE "C" CHECK (reputation_source IN ('feed', 'complaints', 'redress')),
  -- The last word of a reputation feed, also while redress overrules it.
  feed_level reputation_level,
  feed_category smallint,
  feed_load_id bigint,
  cleared_at timestamptz,
  CONSTRAINT phone_number_category_fits CHECK (
    reputation_category IS NULL
    OR (reputation_level = 'SPAM' AND reputation_category IN (1, 2, 3, 4, 5, 6, 10))
    OR (reputation_level = 'FRAUD' AND reputation_category IN (7, 8, 9, 11, 12, 13, 14, 15))),
  -- A row of the covering index must fit in a third of a page (2,704 bytes).
  CONSTRAINT phone_number_display_fits CHECK (
    octet_length(display_name) <= 128 AND octet_length(display_description) <= 512
    AND octet_length(display_detail) <= 1024 AND octet_length(display_image) <= 512)
);
COMMENT ON TABLE phone_number IS 'One row a known number. Every row that has a country is in that country''s profile cache.';

-- An ordered COPY of one country reads this index alone. Over a heap in random order, as feeds leave it,
-- the primary key took 5.7 s for 5 million rows, this index 1.8 s after a VACUUM (bench/night.ts).
CREATE INDEX phone_number_profile ON phone_number (country, phone)
  INCLUDE (reputation_level, reputation_category, display_name, display_description, display_detail, display_image);

CREATE INDEX phone_number_spammer ON phone_number (phone)
  INCLUDE (reputation_level, reputation_category)
  WHERE reputation_level <> 'NEUTRAL';

-- Live branded numbers: one row while a number may show a brand. Filled by a loader today, by the
-- registration workflow later: it writes a row when number, brand and letter are all approved,
-- with the instants between which that holds, and removes it when one of them is withdrawn.
CREATE TABLE branded_number (
  phone e164 PRIMARY KEY,
  brand_handle clean_text NOT NULL,
  display_name clean_text NOT NULL,
  display_description clean_text,
  display_detail clean_text,
  display_image clean_text,
  live_from timestamptz NOT NULL,
  live_until timestamptz,
  CONSTRAINT branded_number_interval CHECK (live_until IS NULL OR live_until > live_from),
  CONSTRAINT branded_number_display_fits CHECK (
    octet_length(display_name) <= 128 AND octet_length(display_description) <= 512
    AND octet_length(display_detail) <= 1024 AND octet_length(display_image) <= 512)
);
COMMENT ON TABLE branded_number IS 'One live brand a number; published while live_from <= the night''s instant < live_until.';
