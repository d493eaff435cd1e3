-- Purpose: whether a user of the console with one of some names acts for the owner of a brand.
-- Parameters: $1 brand id, $2 names.
-- Rows: one (acts) if so, else none.
SELECT true AS acts
FROM console_user AS u
JOIN console_user_owner AS o USING (user_id)
JOIN brand AS b ON b.owner = o.owner
WHERE b.brand_id = $1 AND u.name = ANY ($2)
LIMIT 1;
