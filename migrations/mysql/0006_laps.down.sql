-- Launch numbers end at 99,999 again. Down refuses this where there are higher ones.

ALTER TABLE idmint_namespace MODIFY last_launch_id INT NOT NULL DEFAULT 0 CHECK (last_launch_id BETWEEN 0 AND 99999);

ALTER TABLE idmint_launch MODIFY launch_id INT NOT NULL CHECK (launch_id BETWEEN 1 AND 99999);

SET @idmint_alter = (SELECT CASE WHEN count(*) = 0 THEN 'DO 0' ELSE 'ALTER TABLE idmint_launch DROP COLUMN first_generator_id' END
    FROM information_schema.columns WHERE table_schema = database() AND table_name = 'idmint_launch' AND column_name = 'first_generator_id');

PREPARE idmint_alter FROM @idmint_alter;

EXECUTE idmint_alter;

SET @idmint_alter = (SELECT CASE WHEN count(*) = 0 THEN 'DO 0' ELSE
    'ALTER TABLE idmint_namespace DROP COLUMN first_digits, DROP COLUMN last_digits' END
    FROM information_schema.columns WHERE table_schema = database() AND table_name = 'idmint_namespace' AND column_name = 'last_digits');

PREPARE idmint_alter FROM @idmint_alter;

EXECUTE idmint_alter;

DEALLOCATE PREPARE idmint_alter;

DELETE FROM idmint_schema WHERE version = 6;
