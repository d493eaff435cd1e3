-- Compatible with older workers: yes (they count no crashes).
-- Tries of a build that ended without an outcome, because their process crashed or lost the database.

ALTER TABLE build ADD COLUMN crashes integer NOT NULL DEFAULT 0;
