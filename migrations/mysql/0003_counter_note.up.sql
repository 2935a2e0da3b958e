-- Who raised a counter last, and by which operation: see launchlog.Raise. MySQL has no ADD COLUMN IF NOT EXISTS, which MariaDB has.

SET @idmint_alter = (SELECT CASE WHEN count(*) > 0 THEN 'DO 0' ELSE
    'ALTER TABLE idmint_counter ADD COLUMN note VARCHAR(128) NOT NULL DEFAULT '''', ADD COLUMN holder VARCHAR(255) NOT NULL DEFAULT ''''' END
    FROM information_schema.columns WHERE table_schema = database() AND table_name = 'idmint_counter' AND column_name = 'note');

PREPARE idmint_alter FROM @idmint_alter;

EXECUTE idmint_alter;

DEALLOCATE PREPARE idmint_alter;

INSERT IGNORE INTO idmint_schema (version) VALUES (3);
