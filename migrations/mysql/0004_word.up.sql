-- A random word, by which a store notices that another log is in its log's place: see launchlog.ErrOtherLog. It goes through a
-- variable, which every format of the binary log copies: so replicas have the same word.

SET @idmint_alter = (SELECT CASE WHEN count(*) > 0 THEN 'DO 0' ELSE
    'ALTER TABLE idmint_schema ADD COLUMN word VARCHAR(64) NOT NULL DEFAULT ''''' END
    FROM information_schema.columns WHERE table_schema = database() AND table_name = 'idmint_schema' AND column_name = 'word');

PREPARE idmint_alter FROM @idmint_alter;

EXECUTE idmint_alter;

DEALLOCATE PREPARE idmint_alter;

SET @idmint_word = md5(concat(uuid(), rand(), rand()));

INSERT IGNORE INTO idmint_schema (version, word) VALUES (4, @idmint_word);
