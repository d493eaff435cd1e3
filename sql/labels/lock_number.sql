-- Purpose: the published reputation of a number, locked until the transaction ends.
-- Parameters: $1 phone in E.164.
-- Rows: one, or none if the number is not known.
SELECT reputation_level AS level, reputation_category AS category, reputation_source AS source FROM phone_number WHERE phone = $1 FOR UPDATE;
