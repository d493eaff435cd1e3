-- Compatible with older workers: yes (what they build has no filter, and the next night adds it).
-- The filter beside an artefact: a small set of its keys for phones.

-- {sha256, bytes, bits}; NULL: none was made.
ALTER TABLE build ADD COLUMN filter jsonb;
ALTER TABLE artefact_version ADD COLUMN filter jsonb;
COMMENT ON COLUMN artefact_version.filter IS 'The stored filter of the keys: {sha256, bytes, bits}. NULL in caches without one, and in versions from before there were filters.';
