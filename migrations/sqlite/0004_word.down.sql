-- Drops the word. The log has another one after the next upgrade, so stores that are open refuse it.

DELETE FROM idmint_schema WHERE version = 4;

ALTER TABLE idmint_schema DROP COLUMN word;
