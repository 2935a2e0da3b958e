-- Drops the word. The log has another one after the next upgrade, so stores that are open refuse it.

SET @idmint_alter = (SELECT CASE WHEN count(*) > 0 THEN
    'ALTER TABLE idmint_schema DROP COLUMN word' ELSE 'DO 0' END
    FROM information_schema.columns WHERE table_schema = database() AND table_name = 'idmint_schema' AND column_name = 'word');

DELETE FROM idmint_schema WHERE version = 4;

PREPARE idmint_alter FROM @idmint_alter;

EXECUTE idmint_alter;

DEALLOCATE PREPARE idmint_alter;
