-- Purpose: every artefact with its published version and the version before, for manifests.
-- Parameters: none.
-- Rows: one an artefact, by cache and country; `published` is absent without a published version.
SELECT
  p.cache, p.country, p.status,
  p.stale_code IS NOT NULL AS stale, p.stale_code AS "stale.code", p.stale_reason AS "stale.reason", p.stale_since AS "stale.since", p.confirmed_as_of,
  p.version IS NOT NULL AS published, p.version AS "published.version", v.build_id AS "published.build_id", v.as_of AS "published.as_of",
  v.built_at AS "published.built_at", v.published_at AS "published.published_at", v.facts AS "published.facts",
  b.version IS NOT NULL AS previous, b.version AS "previous.version", b.facts #>> '{file,plainSha256}' AS "previous.plain_sha256"
FROM publication AS p
LEFT JOIN artefact_version AS v USING (cache, country, version)
LEFT JOIN artefact_version AS b ON b.cache = p.cache AND b.country = p.country AND b.version = p.version - 1
ORDER BY p.cache, p.country;
