-- Compatible with older workers: yes (their statements find other plans).
-- Nights read changed rows by the primary key; the covering indexes served the weekly full build alone, and every feed paid for
-- them (bench/indexes.ts, docs/performance.md). The countries are still listed by one look-up each.

DROP INDEX phone_number_profile;
DROP INDEX phone_number_spammer;
CREATE INDEX phone_number_country ON phone_number (country);
