-- Named counters: see launchlog.Counter for what they promise.

CREATE TABLE IF NOT EXISTS idmint_counter (
    namespace  VARCHAR(63)  NOT NULL,
    name       VARCHAR(128) NOT NULL CHECK (char_length(name) BETWEEN 1 AND 128),
    value      BIGINT       NOT NULL CHECK (value >= 0), -- the last number handed out
    updated_at DATETIME(6)  NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    PRIMARY KEY (namespace, name),
    CONSTRAINT idmint_counter_namespace FOREIGN KEY (namespace) REFERENCES idmint_namespace (namespace)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;

-- This one, which stays empty, keeps TRUNCATE off.

CREATE TABLE IF NOT EXISTS idmint_counter_kept (
    namespace VARCHAR(63),
    name      VARCHAR(128),
    KEY idmint_counter_kept_counter (namespace, name),
    CONSTRAINT idmint_counter_kept_counter FOREIGN KEY (namespace, name) REFERENCES idmint_counter (namespace, name)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;

INSERT IGNORE INTO idmint_schema (version) VALUES (2);
