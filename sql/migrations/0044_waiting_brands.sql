-- Compatible with older workers: no (they cannot build what a plan of this version names: it has no count of the changed keys).
-- The brands that wait for a person are defined once: the console lists and counts them, and a metric has their age.

CREATE VIEW waiting_brand AS
SELECT b.brand_id, b.handle, b.owner, b.state, b.approved_revision, p.display_name AS pending_display_name, p.findings, p.created_at AS waiting_since
FROM brand AS b
JOIN brand_revision AS p ON p.brand_id = b.brand_id AND p.revision = b.pending_revision
WHERE b.pending_revision IS NOT NULL
  AND (b.state IN ('submitted', 'in_review') OR (b.approved_revision IS NOT NULL AND b.state <> 'withdrawn'))
  AND NOT EXISTS (SELECT FROM letter AS l WHERE l.brand_id = b.brand_id AND l.revision = b.pending_revision AND l.state IN ('submitted', 'in_review'));

COMMENT ON VIEW waiting_brand IS 'Brands, and pending revisions of approved ones, that wait for a person while no letter of theirs does.';
