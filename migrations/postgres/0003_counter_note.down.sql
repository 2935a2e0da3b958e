-- Drops what says who raised a counter. The values stay, so nothing repeats.

ALTER TABLE idmint_counter DROP COLUMN note, DROP COLUMN holder;

DELETE FROM idmint_schema WHERE version = 3;
