-- Drops the counters, if none of them was used: an application that went on with new ones would repeat numbers.

LOCK TABLE idmint_counter IN ACCESS EXCLUSIVE MODE; -- so that none is used meanwhile
UPDATE idmint_counter SET value = -1 WHERE value > 0; -- which a trigger refuses

DROP TABLE idmint_counter;
DELETE FROM idmint_schema WHERE version = 2;
