-- Drops the counters, if none of them was used: an application that went on with new ones would repeat numbers. The locks keep
-- others from using one meanwhile.

LOCK TABLES idmint_schema WRITE, idmint_counter_kept WRITE, idmint_counter WRITE;

INSERT INTO idmint_schema (version) SELECT 2 FROM idmint_counter WHERE value > 0 LIMIT 1; -- a duplicate, which is refused

DELETE FROM idmint_schema WHERE version = 2;

DROP TABLE idmint_counter_kept, idmint_counter;

UNLOCK TABLES;
