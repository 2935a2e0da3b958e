-- Drops what says who raised a counter. The values stay, so nothing repeats.

ALTER TABLE idmint_counter DROP COLUMN holder;
ALTER TABLE idmint_counter DROP COLUMN note;

DELETE FROM idmint_schema WHERE version = 3;
