-- Launch numbers end at 99,999 again. Down refuses this where there are higher ones.

DROP TRIGGER idmint_launch_first;

ALTER TABLE idmint_launch DROP COLUMN first_generator_id;

ALTER TABLE idmint_namespace DROP COLUMN first_digits;

ALTER TABLE idmint_namespace DROP COLUMN last_digits;

PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (last_launch_id >= 0)', 'CHECK (last_launch_id BETWEEN 0 AND 99999)')
WHERE type = 'table' AND name = 'idmint_namespace';

UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (launch_id >= 1 AND launch_id % 100000 <> 0)', 'CHECK (launch_id BETWEEN 1 AND 99999)')
WHERE type = 'table' AND name = 'idmint_launch';

PRAGMA writable_schema = RESET;

DELETE FROM idmint_schema WHERE version = 6;
