-- Purpose: the request of a letter.
-- Parameters: $1 letter id.
-- Rows: none or one: the operation's kind, who asked and when, call reason, the profile of the revision that it came with, the
--   brand's state, how many numbers were requested and how many of them the letter authorizes.
SELECT o.kind, o.requested_by, o.requested_at, o.request ->> 'callReason' AS call_reason, r.profile, b.state AS brand_state, n.requested, n.authorized
FROM letter AS l
JOIN branding_operation AS o USING (operation_id)
JOIN brand AS b ON b.brand_id = l.brand_id
JOIN brand_revision AS r ON r.brand_id = l.brand_id AND r.revision = l.revision
CROSS JOIN LATERAL (
  SELECT count(*) AS requested, count(c.phone) AS authorized
  FROM branding_operation_row AS w
  LEFT JOIN letter_number AS c ON c.letter_id = l.letter_id AND c.phone = w.phone
  WHERE w.operation_id = l.operation_id AND w.outcome IN ('accepted', 'known')
) AS n
WHERE l.letter_id = $1;
