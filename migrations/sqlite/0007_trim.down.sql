-- No claim is deleted any more. What a trim has deleted stays so.

DROP TRIGGER idmint_generator_delete;

CREATE TRIGGER idmint_generator_delete BEFORE DELETE ON idmint_generator
BEGIN SELECT RAISE(ABORT, 'idmint: claims are not deleted'); END;

DELETE FROM idmint_schema WHERE version = 7;
