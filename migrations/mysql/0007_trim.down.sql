-- What a trim has deleted stays so.

DELETE FROM idmint_schema WHERE version = 7;
