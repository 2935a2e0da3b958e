-- Who raised a counter last, and by which operation: see launchlog.Raise.

ALTER TABLE idmint_counter
    ADD COLUMN note   text COLLATE "C" NOT NULL DEFAULT '' CHECK (length(note) <= 128),
    ADD COLUMN holder text COLLATE "C" NOT NULL DEFAULT '';

INSERT INTO idmint_schema (version) VALUES (3);
