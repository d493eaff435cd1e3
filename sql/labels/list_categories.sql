-- Purpose: the published category ids: to judge the rows of a reputation feed, and for /v1/reputation/categories.
-- Parameters: none.
-- Rows: one a category, by id.
SELECT category AS id, name, level FROM reputation_category ORDER BY category;
