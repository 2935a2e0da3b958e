-- The launch log: see package launchlog for what it promises. All times are UTC by this database's clock.
--
-- MySQL commits at each of these statements, so each can be run again: a migration that was cut off is completed by the next one.
-- An empty line ends a statement. They are sent one by one, or all at once by a connection that takes multiple statements.
--
-- There are no triggers, which many servers refuse: grants guard the rows from statements by hand. See docs/operate/mysql.md.

CREATE TABLE IF NOT EXISTS idmint_schema (
    version    INT         NOT NULL PRIMARY KEY,
    applied_at DATETIME(6) NOT NULL DEFAULT (UTC_TIMESTAMP(6))
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS idmint_namespace (
    namespace      VARCHAR(63) NOT NULL PRIMARY KEY CHECK (char_length(namespace) BETWEEN 1 AND 63),
    last_launch_id INT         NOT NULL DEFAULT 0 CHECK (last_launch_id BETWEEN 0 AND 99999)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS idmint_launch (
    namespace         VARCHAR(63)   NOT NULL,
    launch_id         INT           NOT NULL CHECK (launch_id BETWEEN 1 AND 99999),
    idempotency_key   VARCHAR(255)  NOT NULL,
    request_hash      VARCHAR(64)   NOT NULL,
    service           VARCHAR(255)  NOT NULL,
    environment       VARCHAR(255)  NOT NULL,
    initiator         VARCHAR(255)  NOT NULL,
    initiator_kind    VARCHAR(255)  NOT NULL DEFAULT '',
    version           VARCHAR(255)  NOT NULL DEFAULT '',
    commit_id         VARCHAR(255)  NOT NULL DEFAULT '',
    ref               VARCHAR(255)  NOT NULL DEFAULT '',
    artifact_digest   VARCHAR(255)  NOT NULL DEFAULT '',
    ticket            VARCHAR(255)  NOT NULL DEFAULT '',
    reason            VARCHAR(4096) NOT NULL DEFAULT '',
    approver          VARCHAR(255)  NOT NULL DEFAULT '',
    pipeline_url      VARCHAR(4096) NOT NULL DEFAULT '',
    rolls_back        INT,
    data              MEDIUMTEXT, -- JSON as it was given: the type JSON does not keep the text, which is hashed
    host              VARCHAR(255)  NOT NULL,
    started_at        DATETIME(6)   NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    ended_at          DATETIME(6),
    outcome           VARCHAR(32),
    next_generator_id INT           NOT NULL DEFAULT 0 CHECK (next_generator_id BETWEEN 0 AND 100000),
    PRIMARY KEY (namespace, launch_id),
    UNIQUE KEY idmint_launch_key (namespace, idempotency_key),
    KEY idmint_launch_rolls_back (namespace, rolls_back),
    CONSTRAINT idmint_launch_namespace FOREIGN KEY (namespace) REFERENCES idmint_namespace (namespace),
    CONSTRAINT idmint_launch_rolls_back FOREIGN KEY (namespace, rolls_back) REFERENCES idmint_launch (namespace, launch_id),
    CONSTRAINT idmint_launch_ended CHECK ((ended_at IS NULL) = (outcome IS NULL))
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS idmint_generator (
    namespace    VARCHAR(63)  NOT NULL,
    launch_id    INT          NOT NULL,
    generator_id INT          NOT NULL CHECK (generator_id BETWEEN 0 AND 99999),
    token        VARCHAR(255) NOT NULL,
    host         VARCHAR(255) NOT NULL,
    pid          BIGINT       NOT NULL,
    claimed_at   DATETIME(6)  NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    PRIMARY KEY (namespace, launch_id, generator_id),
    UNIQUE KEY idmint_generator_token (token),
    CONSTRAINT idmint_generator_launch FOREIGN KEY (namespace, launch_id) REFERENCES idmint_launch (namespace, launch_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;

CREATE TABLE IF NOT EXISTS idmint_launch_event (
    event_id  BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY, -- for their order alone: it has gaps
    namespace VARCHAR(63)  NOT NULL,
    launch_id INT, -- NULL for an event of the namespace
    kind      VARCHAR(32)  NOT NULL,
    actor     VARCHAR(255) NOT NULL,
    at        DATETIME(6)  NOT NULL DEFAULT (UTC_TIMESTAMP(6)),
    detail    MEDIUMTEXT,
    KEY idmint_launch_event_launch (namespace, launch_id),
    CONSTRAINT idmint_launch_event_namespace FOREIGN KEY (namespace) REFERENCES idmint_namespace (namespace),
    CONSTRAINT idmint_launch_event_launch FOREIGN KEY (namespace, launch_id) REFERENCES idmint_launch (namespace, launch_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;

-- A foreign key refuses TRUNCATE: this table, which stays empty, has one to each that no other table has.

CREATE TABLE IF NOT EXISTS idmint_launch_kept (
    namespace    VARCHAR(63),
    launch_id    INT,
    generator_id INT,
    event_id     BIGINT,
    KEY idmint_launch_kept_generator (namespace, launch_id, generator_id),
    KEY idmint_launch_kept_event (event_id),
    CONSTRAINT idmint_launch_kept_generator FOREIGN KEY (namespace, launch_id, generator_id)
        REFERENCES idmint_generator (namespace, launch_id, generator_id),
    CONSTRAINT idmint_launch_kept_event FOREIGN KEY (event_id) REFERENCES idmint_launch_event (event_id)
) ENGINE = InnoDB DEFAULT CHARACTER SET = utf8mb4 COLLATE = utf8mb4_bin;

INSERT IGNORE INTO idmint_schema (version) VALUES (1);
