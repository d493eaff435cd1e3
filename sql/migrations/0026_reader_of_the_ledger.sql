-- Compatible with older workers: yes (a privilege of the reader only).
-- The API refuses a schema that a later version has made incompatible.

GRANT SELECT ON schema_migration TO caller_trust_reader;
