-- Drops what says who raised a counter. The values stay, so nothing repeats.

SET @idmint_alter = (SELECT CASE WHEN count(*) > 0 THEN
    'ALTER TABLE idmint_counter DROP COLUMN note, DROP COLUMN holder' ELSE 'DO 0' END
    FROM information_schema.columns WHERE table_schema = database() AND table_name = 'idmint_counter' AND column_name = 'note');

DELETE FROM idmint_schema WHERE version = 3;

PREPARE idmint_alter FROM @idmint_alter;

EXECUTE idmint_alter;

DEALLOCATE PREPARE idmint_alter;
