-- Named counters: see launchlog.Counter for what they promise.

CREATE TABLE idmint_counter (
    namespace  TEXT    NOT NULL REFERENCES idmint_namespace,
    name       TEXT    NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
    value      INTEGER NOT NULL CHECK (value >= 0), -- the last number handed out; without a default, which REPLACE puts for NULL
    updated_at TEXT    NOT NULL DEFAULT (strftime('%Y-%m-%dT%H:%M:%fZ', 'now')),
    PRIMARY KEY (namespace, name)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER idmint_counter_insert BEFORE INSERT ON idmint_counter
WHEN EXISTS (SELECT 1 FROM idmint_counter WHERE namespace = NEW.namespace AND name = NEW.name)
BEGIN SELECT RAISE(ABORT, 'idmint: counters are not replaced'); END;

CREATE TRIGGER idmint_counter_delete BEFORE DELETE ON idmint_counter
BEGIN SELECT RAISE(ABORT, 'idmint: counters are not deleted'); END;

CREATE TRIGGER idmint_counter_update BEFORE UPDATE ON idmint_counter
WHEN NEW.namespace IS NOT OLD.namespace OR NEW.name IS NOT OLD.name OR NEW.value < OLD.value
BEGIN SELECT RAISE(ABORT, 'idmint: counters only rise'); END;

-- UPDATE OR REPLACE puts the default, 0, for a NULL, after version 1's triggers have looked.

CREATE TRIGGER idmint_namespace_null BEFORE UPDATE OF last_launch_id ON idmint_namespace
WHEN NEW.last_launch_id IS NULL
BEGIN SELECT RAISE(ABORT, 'idmint: launch numbers only rise'); END;

CREATE TRIGGER idmint_launch_null BEFORE UPDATE OF next_generator_id ON idmint_launch
WHEN NEW.next_generator_id IS NULL
BEGIN SELECT RAISE(ABORT, 'idmint: generator numbers only rise'); END;

INSERT INTO idmint_schema (version) VALUES (2);
