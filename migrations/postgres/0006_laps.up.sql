-- Launch numbers go on beyond 99,999: the last five digits are what an ID shows of one. A launch whose digits another one had before
-- goes on with its generator numbers. A namespace may have a range of the digits: see launchlog.Digits.

ALTER TABLE idmint_namespace DROP CONSTRAINT idmint_namespace_last_launch_id_check;

ALTER TABLE idmint_namespace
    ADD COLUMN first_digits integer NOT NULL DEFAULT 1,
    ADD COLUMN last_digits  integer NOT NULL DEFAULT 99999,
    ADD CONSTRAINT idmint_namespace_last_launch_id_check CHECK (last_launch_id >= 0),
    ADD CHECK (1 <= first_digits AND first_digits <= last_digits AND last_digits <= 99999);

ALTER TABLE idmint_launch DROP CONSTRAINT idmint_launch_launch_id_check;

ALTER TABLE idmint_launch
    ADD COLUMN first_generator_id integer NOT NULL DEFAULT 0,
    ADD CONSTRAINT idmint_launch_launch_id_check CHECK (launch_id >= 1 AND launch_id % 100000 <> 0);

CREATE TRIGGER idmint_launch_first BEFORE UPDATE OF first_generator_id ON idmint_launch
FOR EACH ROW EXECUTE FUNCTION idmint_refuse('launches are not changed');

-- Of launches that an earlier release ended by an advance some generator numbers may have been lost: so none of them is left.
UPDATE idmint_launch l SET next_generator_id = 100000
WHERE EXISTS (SELECT FROM idmint_launch_event e WHERE e.namespace = l.namespace AND e.launch_id = l.launch_id
    AND e.kind = 'ended' AND e.detail::text LIKE '%launch numbers were advanced%');

INSERT INTO idmint_schema (version) VALUES (6);
