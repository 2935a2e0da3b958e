-- A random word, by which a store notices that another log is in its log's place: see launchlog.ErrOtherLog.

ALTER TABLE idmint_schema ADD COLUMN word text NOT NULL DEFAULT '';

-- gen_random_uuid() came with PostgreSQL 13.
INSERT INTO idmint_schema (version, word)
VALUES (4, md5(concat(random(), random(), clock_timestamp(), pg_backend_pid(), txid_current())));
