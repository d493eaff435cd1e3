-- Compatible with older workers: yes (columns that may be NULL, a new table, and one more role; older consoles know no user of it).
-- Who handed a request in, so that another person decides it; and users of agencies, who see the brands of their owners only.

-- The person, where requested_by does not say who it was: of a dropped folder the account that owns it.
ALTER TABLE branding_operation ADD COLUMN handed_in_by text CHECK (handed_in_by ~ '\S');

-- The operation that made the revision. Those from before have the actor in created_by alone.
ALTER TABLE brand_revision ADD COLUMN operation_id bigint REFERENCES branding_operation;
CREATE INDEX brand_revision_operation ON brand_revision (operation_id);

ALTER TABLE console_user DROP CONSTRAINT console_user_role_check;
ALTER TABLE console_user ADD CONSTRAINT console_user_role_check CHECK (role IN ('viewer', 'reviewer', 'operator', 'agency'));

-- The owners for whom a user acts. A user with the role agency sees theirs only; whoever acts for an owner decides nothing of it.
CREATE TABLE console_user_owner (
  user_id int NOT NULL REFERENCES console_user ON DELETE CASCADE,
  owner clean_text NOT NULL,
  PRIMARY KEY (user_id, owner)
);
