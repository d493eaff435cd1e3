-- Purpose: branding operations, newest first.
-- Parameters: $1 operation id before which to begin or NULL, $2 owners or NULL for all, $3 outcome, or state of an operation without one, or NULL,
--   $4 handle or NULL, $5 how many at most.
-- Rows: operation id, kind, owner, handle, requested by and at, outcome, code of its failure, whether it has a letter,
--   how many numbers it gave (NULL: none, or not known yet).
SELECT operation_id, kind, owner, request ->> 'handle' AS handle, requested_by, requested_at, coalesce(result ->> 'outcome', state) AS standing,
  failure_code, letter_document_id IS NOT NULL AS has_letter, (result #>> '{numbers,given}')::int AS numbers
FROM branding_operation
WHERE ($1::bigint IS NULL OR operation_id < $1) AND ($2::text[] IS NULL OR owner = ANY ($2))
  AND ($3::text IS NULL OR coalesce(result ->> 'outcome', state) = $3) AND ($4::text IS NULL OR request ->> 'handle' = $4)
ORDER BY operation_id DESC
LIMIT $5;
