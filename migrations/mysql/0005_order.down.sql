-- IDs of the next start begin at counter 1 again.

DROP TABLE IF EXISTS idmint_order;

DELETE FROM idmint_schema WHERE version = 5;
