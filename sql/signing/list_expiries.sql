-- Purpose: when the signed metadata of each role expires. Its body is canonical JSON with the expiry near the front of `signed`:
--   the files that the targets list, up to half a megabyte, are not read.
-- Parameters: none.
-- Rows: one a role of the present set, none before `trust init`: role, and expires (text, in UTC as the metadata has it).
SELECT DISTINCT ON (kind) kind AS role,
  substring(convert_from(substring(body FROM 1 FOR 16384), 'SQL_ASCII') FROM '"signed":\{"_type":"[a-z]+",[^{}]*"expires":"([^"]+)"') AS expires
FROM trust_document
WHERE superseded_at IS NULL AND kind <> 'manifest'
ORDER BY kind, CASE WHEN kind = 'root' THEN split_part(name, '.', 1)::integer ELSE 0 END DESC;
