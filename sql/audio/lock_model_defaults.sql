-- Purpose: keeps others from setting a default until the transaction ends; reading goes on.
-- Parameters: none.
-- Rows: none.
LOCK TABLE model_default IN SHARE ROW EXCLUSIVE MODE;
