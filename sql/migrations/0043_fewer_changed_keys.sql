-- Compatible with older workers: yes (they find ranges marked where there were keys).
-- A statement that touches more than 65,536 rows marks ranges again (0041 made it 524,288): with 5 million rows, of which a tenth
-- changes, reading each by key takes 1.55 of a full night, and building in full 1.14 (docs/performance.md).

CREATE OR REPLACE FUNCTION marked_keys_max() RETURNS integer LANGUAGE sql IMMUTABLE AS 'SELECT 65536';
