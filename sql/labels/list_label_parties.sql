-- Purpose: the persons with a part in the label of a number: who filed a dispute of it, also a decided one, and users of the console
--   who act for the owner of a brand that has the number.
-- Parameters: $1 number or prefix (E.164), $2 true for a prefix.
-- Rows: actor, part (dispute or number_owner).
SELECT filed_by AS actor, 'dispute' AS part
FROM number_dispute
WHERE CASE WHEN $2::boolean THEN starts_with(phone, $1) ELSE phone = $1 END
UNION
SELECT 'console ' || u.name, 'number_owner'
FROM brand_number AS n
JOIN brand AS b USING (brand_id)
JOIN console_user_owner AS c USING (owner)
JOIN console_user AS u USING (user_id)
WHERE n.ended_at IS NULL AND CASE WHEN $2::boolean THEN starts_with(n.phone, $1) ELSE n.phone = $1 END;
