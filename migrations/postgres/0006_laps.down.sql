-- Launch numbers end at 99,999 again. Where there are higher ones, or digits were set, this is refused: Up left numbers that would
-- come again.

DROP TRIGGER idmint_launch_first ON idmint_launch;

ALTER TABLE idmint_launch
    DROP COLUMN first_generator_id,
    DROP CONSTRAINT idmint_launch_launch_id_check,
    ADD CONSTRAINT idmint_launch_launch_id_check CHECK (launch_id BETWEEN 1 AND 99999);

ALTER TABLE idmint_namespace
    DROP COLUMN first_digits,
    DROP COLUMN last_digits,
    DROP CONSTRAINT idmint_namespace_last_launch_id_check,
    ADD CONSTRAINT idmint_namespace_last_launch_id_check CHECK (last_launch_id BETWEEN 0 AND 99999);

DELETE FROM idmint_schema WHERE version = 6;
