-- Compatible with older workers: yes (a column that fills itself).
-- An id of each number of a brand: where a page of the console begins is in its address, where no phone number may be.
-- It writes the table anew: nobody reads or writes brand_number meanwhile, some seconds for a million rows.

ALTER TABLE brand_number ADD COLUMN number_id bigint GENERATED ALWAYS AS IDENTITY;
CREATE UNIQUE INDEX brand_number_number_id ON brand_number (number_id);
