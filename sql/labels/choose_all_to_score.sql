-- Purpose: chooses, for a scoring of all numbers, those whose stored score or published label no complaint may account for any more.
-- Parameters: $1 rule version.
-- Rows: none.
INSERT INTO complaint_candidate
SELECT phone FROM complaint_score WHERE reports > 0 OR rule_version <> $1
UNION
SELECT phone FROM phone_number WHERE reputation_source = 'complaints' AND reputation_level <> 'NEUTRAL';
