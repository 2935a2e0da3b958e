-- Drops the launch log with every number that it gave out. An application that goes on with a new log repeats IDs.

DROP TABLE idmint_launch_event;
DROP TABLE idmint_generator;
DROP TABLE idmint_launch;
DROP TABLE idmint_namespace;
DROP TABLE idmint_schema;
