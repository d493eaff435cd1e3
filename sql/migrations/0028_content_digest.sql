-- Compatible with older workers: no (a version need not have plain_sha256 any more).
-- A digest of the rows that costs what changed: SHA-256 of the list of segments with the digest of each.

ALTER TABLE build
  ADD COLUMN plain_crc32 text COLLATE "C",
  ADD COLUMN content_sha256 text COLLATE "C",
  -- By which the text is cut for the content digest.
  ADD COLUMN segment_rows_max integer;
ALTER TABLE artefact_version
  ADD COLUMN plain_crc32 text COLLATE "C",
  ADD COLUMN content_sha256 text COLLATE "C",
  ADD COLUMN segment_rows_max integer,
  ALTER COLUMN plain_sha256 DROP NOT NULL,
  ADD CONSTRAINT artefact_version_has_digest CHECK (content_sha256 IS NOT NULL OR plain_sha256 IS NOT NULL);
