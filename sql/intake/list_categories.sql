-- Purpose: the published categories, to judge the rows of a reputation feed.
-- Parameters: none.
-- Rows: one a category, by id.
SELECT category AS id, name, level FROM reputation_category ORDER BY category;
