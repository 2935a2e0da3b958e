-- The registers of order of the services: see generator.Ordered. Nothing but the order of IDs depends on them.

CREATE TABLE idmint_order (
    namespace  text COLLATE "C" NOT NULL,
    service    text COLLATE "C" NOT NULL,
    value      bigint           NOT NULL, -- how far the counters have come
    looks      bigint           NOT NULL, -- at the register, by generators
    updated_at timestamptz      NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (namespace, service)
) WITH (fillfactor = 50);

INSERT INTO idmint_schema (version) VALUES (5);
