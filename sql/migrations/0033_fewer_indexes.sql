-- Compatible with older workers: yes (their statements find other plans).
-- Nights read changed rows by the primary key; the covering indexes served the weekly full build alone, and every feed paid for
-- them (bench/indexes.ts, docs/performance.md). One by country and phone is left: countries are listed
-- by one look-up each, and a changed key of a country is found without statistics, in a table that was loaded a moment ago.

DROP INDEX phone_number_profile;
DROP INDEX phone_number_spammer;
CREATE INDEX phone_number_country ON phone_number (country, phone);
