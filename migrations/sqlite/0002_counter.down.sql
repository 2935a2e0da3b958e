-- Drops the counters, if none of them was used: an application that went on with new ones would repeat numbers.

UPDATE idmint_counter SET value = -1 WHERE value > 0; -- which a trigger refuses

DROP TRIGGER idmint_namespace_null;
DROP TRIGGER idmint_launch_null;
DROP TABLE idmint_counter;
DELETE FROM idmint_schema WHERE version = 2;
