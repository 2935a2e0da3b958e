-- Named counters: see launchlog.Counter for what they promise.

CREATE TABLE idmint_counter (
    namespace  text COLLATE "C" NOT NULL REFERENCES idmint_namespace,
    name       text COLLATE "C" NOT NULL CHECK (length(name) BETWEEN 1 AND 128),
    value      bigint           NOT NULL CHECK (value >= 0), -- the last number handed out
    updated_at timestamptz      NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (namespace, name)
) WITH (fillfactor = 50);

CREATE TRIGGER idmint_counter_delete BEFORE DELETE ON idmint_counter
FOR EACH ROW EXECUTE FUNCTION idmint_refuse('counters are not deleted');

CREATE TRIGGER idmint_counter_truncate BEFORE TRUNCATE ON idmint_counter
FOR EACH STATEMENT EXECUTE FUNCTION idmint_refuse('counters are not deleted');

CREATE TRIGGER idmint_counter_update BEFORE UPDATE ON idmint_counter
FOR EACH ROW WHEN (NEW.namespace IS DISTINCT FROM OLD.namespace OR NEW.name IS DISTINCT FROM OLD.name OR NEW.value < OLD.value)
EXECUTE FUNCTION idmint_refuse('counters only rise');

INSERT INTO idmint_schema (version) VALUES (2);
