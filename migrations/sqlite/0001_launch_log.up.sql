-- The launch log: see package launchlog for what it promises. All times are UTC by this database's clock.

CREATE TABLE IF NOT EXISTS idmint_schema (
    version    INTEGER NOT NULL PRIMARY KEY,
    applied_at TEXT    NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now'))
) STRICT;

CREATE TABLE idmint_namespace (
    namespace      TEXT    NOT NULL PRIMARY KEY CHECK (length(namespace) BETWEEN 1 AND 63),
    last_launch_id INTEGER NOT NULL DEFAULT 0 CHECK (last_launch_id BETWEEN 0 AND 99999)
) STRICT, WITHOUT ROWID;

CREATE TABLE idmint_launch (
    namespace         TEXT    NOT NULL REFERENCES idmint_namespace,
    launch_id         INTEGER NOT NULL CHECK (launch_id BETWEEN 1 AND 99999),
    idempotency_key   TEXT    NOT NULL,
    request_hash      TEXT    NOT NULL,
    service           TEXT    NOT NULL,
    environment       TEXT    NOT NULL,
    initiator         TEXT    NOT NULL,
    initiator_kind    TEXT    NOT NULL DEFAULT '',
    version           TEXT    NOT NULL DEFAULT '',
    commit_id         TEXT    NOT NULL DEFAULT '',
    ref               TEXT    NOT NULL DEFAULT '',
    artifact_digest   TEXT    NOT NULL DEFAULT '',
    ticket            TEXT    NOT NULL DEFAULT '',
    reason            TEXT    NOT NULL DEFAULT '',
    approver          TEXT    NOT NULL DEFAULT '',
    pipeline_url      TEXT    NOT NULL DEFAULT '',
    rolls_back        INTEGER,
    data              TEXT CHECK (data IS NULL OR json_valid(data)),
    host              TEXT    NOT NULL,
    started_at        TEXT    NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    ended_at          TEXT,
    outcome           TEXT,
    next_generator_id INTEGER NOT NULL DEFAULT 0 CHECK (next_generator_id BETWEEN 0 AND 100000),
    PRIMARY KEY (namespace, launch_id),
    UNIQUE (namespace, idempotency_key),
    FOREIGN KEY (namespace, rolls_back) REFERENCES idmint_launch (namespace, launch_id),
    CHECK ((ended_at IS NULL) = (outcome IS NULL))
) STRICT;

CREATE TABLE idmint_generator (
    namespace    TEXT    NOT NULL,
    launch_id    INTEGER NOT NULL,
    generator_id INTEGER NOT NULL CHECK (generator_id BETWEEN 0 AND 99999),
    token        TEXT    NOT NULL UNIQUE,
    host         TEXT    NOT NULL,
    pid          INTEGER NOT NULL,
    claimed_at   TEXT    NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (namespace, launch_id, generator_id),
    FOREIGN KEY (namespace, launch_id) REFERENCES idmint_launch
) STRICT, WITHOUT ROWID;

CREATE TABLE idmint_launch_event (
    event_id  INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    namespace TEXT    NOT NULL REFERENCES idmint_namespace,
    launch_id INTEGER, -- NULL for an event of the namespace
    kind      TEXT    NOT NULL,
    actor     TEXT    NOT NULL,
    at        TEXT    NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    detail    TEXT CHECK (detail IS NULL OR json_valid(detail)),
    FOREIGN KEY (namespace, launch_id) REFERENCES idmint_launch
) STRICT;

CREATE INDEX idmint_launch_event_launch ON idmint_launch_event (namespace, launch_id);

-- What was acknowledged stays: no row is deleted or renumbered, and counters only rise. REPLACE deletes without the triggers
-- of DELETE, so what is there may not be inserted either.

CREATE TRIGGER idmint_namespace_insert BEFORE INSERT ON idmint_namespace
WHEN EXISTS (SELECT 1 FROM idmint_namespace WHERE namespace = NEW.namespace)
BEGIN SELECT RAISE(ABORT, 'idmint: namespaces are not replaced'); END;

CREATE TRIGGER idmint_namespace_delete BEFORE DELETE ON idmint_namespace
BEGIN SELECT RAISE(ABORT, 'idmint: namespaces are not deleted'); END;

CREATE TRIGGER idmint_namespace_update BEFORE UPDATE ON idmint_namespace
WHEN NEW.namespace IS NOT OLD.namespace OR NEW.last_launch_id < OLD.last_launch_id
BEGIN SELECT RAISE(ABORT, 'idmint: launch numbers only rise'); END;

CREATE TRIGGER idmint_launch_insert BEFORE INSERT ON idmint_launch
WHEN EXISTS (SELECT 1 FROM idmint_launch WHERE namespace = NEW.namespace AND (launch_id = NEW.launch_id OR idempotency_key = NEW.idempotency_key))
BEGIN SELECT RAISE(ABORT, 'idmint: launches are not replaced'); END;

CREATE TRIGGER idmint_launch_delete BEFORE DELETE ON idmint_launch
BEGIN SELECT RAISE(ABORT, 'idmint: launches are not deleted'); END;

CREATE TRIGGER idmint_launch_update BEFORE UPDATE OF
    namespace, launch_id, idempotency_key, request_hash, service, environment, initiator, initiator_kind, version, commit_id, ref,
    artifact_digest, ticket, reason, approver, pipeline_url, rolls_back, data, host, started_at
ON idmint_launch
BEGIN SELECT RAISE(ABORT, 'idmint: launches are not changed'); END;

CREATE TRIGGER idmint_launch_end BEFORE UPDATE OF ended_at, outcome ON idmint_launch
WHEN OLD.ended_at IS NOT NULL
BEGIN SELECT RAISE(ABORT, 'idmint: a launch ends once'); END;

CREATE TRIGGER idmint_launch_generator BEFORE UPDATE OF next_generator_id ON idmint_launch
WHEN NEW.next_generator_id < OLD.next_generator_id
BEGIN SELECT RAISE(ABORT, 'idmint: generator numbers only rise'); END;

CREATE TRIGGER idmint_generator_insert BEFORE INSERT ON idmint_generator
WHEN EXISTS (SELECT 1 FROM idmint_generator WHERE token = NEW.token
    OR namespace = NEW.namespace AND launch_id = NEW.launch_id AND generator_id = NEW.generator_id)
BEGIN SELECT RAISE(ABORT, 'idmint: claims are not replaced'); END;

CREATE TRIGGER idmint_generator_delete BEFORE DELETE ON idmint_generator
BEGIN SELECT RAISE(ABORT, 'idmint: claims are not deleted'); END;

CREATE TRIGGER idmint_generator_update BEFORE UPDATE ON idmint_generator
BEGIN SELECT RAISE(ABORT, 'idmint: claims are not changed'); END;

CREATE TRIGGER idmint_launch_event_insert BEFORE INSERT ON idmint_launch_event
WHEN EXISTS (SELECT 1 FROM idmint_launch_event WHERE event_id = NEW.event_id)
BEGIN SELECT RAISE(ABORT, 'idmint: events are not replaced'); END;

CREATE TRIGGER idmint_launch_event_delete BEFORE DELETE ON idmint_launch_event
BEGIN SELECT RAISE(ABORT, 'idmint: events are not deleted'); END;

CREATE TRIGGER idmint_launch_event_update BEFORE UPDATE ON idmint_launch_event
BEGIN SELECT RAISE(ABORT, 'idmint: events are not changed'); END;

INSERT INTO idmint_schema (version) VALUES (1);
