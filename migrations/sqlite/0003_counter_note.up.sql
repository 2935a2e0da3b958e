-- Who raised a counter last, and by which operation: see launchlog.Raise.

ALTER TABLE idmint_counter ADD COLUMN note TEXT NOT NULL DEFAULT '' CHECK (length(note) <= 128);
ALTER TABLE idmint_counter ADD COLUMN holder TEXT NOT NULL DEFAULT '';

INSERT INTO idmint_schema (version) VALUES (3);
