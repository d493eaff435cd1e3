-- Compatible with older workers: no (they write and read the person who submitted an operation under the column's old name).
-- The person who submitted an operation has the word that the rest of the service uses.

ALTER TABLE branding_operation RENAME COLUMN handed_in_by TO submitted_by;
ALTER TABLE branding_operation RENAME CONSTRAINT branding_operation_handed_in_by_check TO branding_operation_submitted_by_check;
