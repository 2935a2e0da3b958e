-- Drops the launch log, if no launch was started in it: an application that went on with a new one would repeat IDs. The locks keep
-- others from starting one meanwhile.

LOCK TABLES idmint_schema WRITE, idmint_launch_kept WRITE, idmint_launch_event WRITE, idmint_generator WRITE, idmint_launch WRITE,
    idmint_namespace WRITE;

INSERT INTO idmint_schema (version) SELECT 1 FROM idmint_namespace WHERE last_launch_id > 0 LIMIT 1; -- a duplicate, which is refused

DROP TABLE idmint_schema, idmint_launch_kept, idmint_launch_event, idmint_generator, idmint_launch, idmint_namespace;

UNLOCK TABLES;
