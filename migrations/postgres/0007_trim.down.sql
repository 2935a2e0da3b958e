-- No claim is deleted any more. What a trim has deleted stays so.

DROP TRIGGER idmint_generator_delete ON idmint_generator;

DROP FUNCTION idmint_keep_claim();

CREATE TRIGGER idmint_generator_delete BEFORE DELETE ON idmint_generator
FOR EACH ROW EXECUTE FUNCTION idmint_refuse('claims are not deleted');

DELETE FROM idmint_schema WHERE version = 7;
