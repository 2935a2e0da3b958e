-- Launch numbers go on beyond 99,999: the last five digits are what an ID shows of one. A launch whose digits another one had before
-- goes on with its generator numbers. A namespace may have a range of the digits: see launchlog.Digits.

ALTER TABLE idmint_namespace ADD COLUMN first_digits INTEGER NOT NULL DEFAULT 1;

ALTER TABLE idmint_namespace ADD COLUMN last_digits INTEGER NOT NULL DEFAULT 99999 CHECK (last_digits <= 99999);

ALTER TABLE idmint_launch ADD COLUMN first_generator_id INTEGER NOT NULL DEFAULT 0;

-- SQLite changes a CHECK only so: https://www.sqlite.org/lang_altertable.html, "Making Other Kinds Of Table Schema Changes".
PRAGMA writable_schema = ON;

UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (last_launch_id BETWEEN 0 AND 99999)', 'CHECK (last_launch_id >= 0)')
WHERE type = 'table' AND name = 'idmint_namespace';

UPDATE sqlite_schema SET sql = replace(sql, 'CHECK (launch_id BETWEEN 1 AND 99999)', 'CHECK (launch_id >= 1 AND launch_id % 100000 <> 0)')
WHERE type = 'table' AND name = 'idmint_launch';

PRAGMA writable_schema = RESET;

CREATE TRIGGER idmint_launch_first BEFORE UPDATE OF first_generator_id ON idmint_launch
BEGIN SELECT RAISE(ABORT, 'idmint: launches are not changed'); END;

-- Of launches that an earlier release ended by an advance some generator numbers may have been lost: so none of them is left.
UPDATE idmint_launch SET next_generator_id = 100000
WHERE EXISTS (SELECT 1 FROM idmint_launch_event e WHERE e.namespace = idmint_launch.namespace AND e.launch_id = idmint_launch.launch_id
    AND e.kind = 'ended' AND e.detail LIKE '%launch numbers were advanced%');

INSERT INTO idmint_schema (version) VALUES (6);
