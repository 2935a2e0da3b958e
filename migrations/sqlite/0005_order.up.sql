-- The registers of order of the services: see generator.Ordered. Nothing but the order of IDs depends on them.

CREATE TABLE idmint_order (
    namespace  TEXT    NOT NULL,
    service    TEXT    NOT NULL,
    value      INTEGER NOT NULL, -- how far the counters have come
    looks      INTEGER NOT NULL, -- at the register, by generators
    updated_at TEXT    NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (namespace, service)
) STRICT, WITHOUT ROWID;

INSERT INTO idmint_schema (version) VALUES (5);
