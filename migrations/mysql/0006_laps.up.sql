-- Launch numbers go on beyond 99,999: the last five digits are what an ID shows of one. A launch whose digits another one had before
-- goes on with its generator numbers. A namespace may have a range of the digits: see launchlog.Digits.
--
-- MariaDB keeps a column's CHECK with the column, and MODIFY replaces it. In MySQL it is a constraint of the table, with a name that the
-- server chose. Each statement can be run again.

ALTER TABLE idmint_namespace MODIFY last_launch_id INT NOT NULL DEFAULT 0 CHECK (last_launch_id >= 0);

SET @idmint_alter = (SELECT coalesce(concat('ALTER TABLE idmint_namespace ', group_concat('DROP CHECK ', constraint_name)), 'DO 0')
    FROM information_schema.check_constraints WHERE constraint_schema = database()
    AND constraint_name LIKE 'idmint\_namespace\_chk%' AND check_clause LIKE '%last\_launch\_id%99999%');

PREPARE idmint_alter FROM @idmint_alter;

EXECUTE idmint_alter;

SET @idmint_alter = (SELECT CASE WHEN count(*) > 0 THEN 'DO 0' ELSE
    'ALTER TABLE idmint_namespace ADD COLUMN first_digits INT NOT NULL DEFAULT 1, ADD COLUMN last_digits INT NOT NULL DEFAULT 99999' END
    FROM information_schema.columns WHERE table_schema = database() AND table_name = 'idmint_namespace' AND column_name = 'last_digits');

PREPARE idmint_alter FROM @idmint_alter;

EXECUTE idmint_alter;

ALTER TABLE idmint_launch MODIFY launch_id INT NOT NULL CHECK (launch_id >= 1 AND launch_id % 100000 <> 0);

SET @idmint_alter = (SELECT coalesce(concat('ALTER TABLE idmint_launch ', group_concat('DROP CHECK ', constraint_name)), 'DO 0')
    FROM information_schema.check_constraints WHERE constraint_schema = database()
    AND constraint_name LIKE 'idmint\_launch\_chk%' AND check_clause LIKE '%launch\_id%99999%');

PREPARE idmint_alter FROM @idmint_alter;

EXECUTE idmint_alter;

SET @idmint_alter = (SELECT CASE WHEN count(*) > 0 THEN 'DO 0' ELSE
    'ALTER TABLE idmint_launch ADD COLUMN first_generator_id INT NOT NULL DEFAULT 0' END
    FROM information_schema.columns WHERE table_schema = database() AND table_name = 'idmint_launch' AND column_name = 'first_generator_id');

PREPARE idmint_alter FROM @idmint_alter;

EXECUTE idmint_alter;

DEALLOCATE PREPARE idmint_alter;

-- Of launches that an earlier release ended by an advance some generator numbers may have been lost: so none of them is left.
UPDATE idmint_launch SET next_generator_id = 100000
WHERE EXISTS (SELECT 1 FROM idmint_launch_event e WHERE e.namespace = idmint_launch.namespace AND e.launch_id = idmint_launch.launch_id
    AND e.kind = 'ended' AND e.detail LIKE '%launch numbers were advanced%');

INSERT IGNORE INTO idmint_schema (version) VALUES (6);
