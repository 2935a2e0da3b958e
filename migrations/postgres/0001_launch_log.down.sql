-- Drops the launch log, if no launch was started in it: an application that went on with a new one would repeat IDs.

LOCK TABLE idmint_namespace IN ACCESS EXCLUSIVE MODE; -- so that none is started meanwhile
UPDATE idmint_namespace SET last_launch_id = -1 WHERE last_launch_id > 0; -- which a trigger refuses

DROP TABLE idmint_launch_event;
DROP TABLE idmint_generator;
DROP TABLE idmint_launch;
DROP TABLE idmint_namespace;
DROP TABLE idmint_schema;
DROP FUNCTION idmint_refuse();
