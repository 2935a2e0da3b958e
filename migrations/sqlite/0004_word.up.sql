-- A random word, by which a store notices that another log is in its log's place: see launchlog.ErrOtherLog.

ALTER TABLE idmint_schema ADD COLUMN word TEXT NOT NULL DEFAULT '';

INSERT INTO idmint_schema (version, word) VALUES (4, lower(hex(randomblob(16))));
