-- The registers of order of the services: see generator.Ordered. Nothing but the order of IDs depends on them.
--
-- Tables of an earlier release may have triggers, which Up drops before this. Another tool drops them first, if there are any: see
-- docs/operate/mysql.md. DROP TRIGGER IF EXISTS is not here, because servers refuse it to who may make none, also where there is nothing.

CREATE TABLE IF NOT EXISTS idmint_order (
    namespace  VARCHAR(63)  NOT NULL,
    service    VARCHAR(255) NOT NULL,
    value      BIGINT       NOT NULL, -- how far the counters have come
    looks      BIGINT       NOT NULL, -- at the register, by generators
    updated_at DATETIME(6)  NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    PRIMARY KEY (namespace, service)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;

INSERT IGNORE INTO idmint_schema (version) VALUES (5);
