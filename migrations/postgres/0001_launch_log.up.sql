-- The launch log: see package launchlog for what it promises. All times are by this database's clock.

CREATE TABLE IF NOT EXISTS idmint_schema (
    version    integer     NOT NULL PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

CREATE TABLE idmint_namespace (
    namespace      text COLLATE "C" NOT NULL PRIMARY KEY CHECK (length(namespace) BETWEEN 1 AND 63),
    last_launch_id integer          NOT NULL DEFAULT 0 CHECK (last_launch_id BETWEEN 0 AND 99999)
) WITH (fillfactor = 50); -- room for new versions of a row beside it

CREATE TABLE idmint_launch (
    namespace         text COLLATE "C" NOT NULL REFERENCES idmint_namespace,
    launch_id         integer          NOT NULL CHECK (launch_id BETWEEN 1 AND 99999),
    idempotency_key   text COLLATE "C" NOT NULL,
    request_hash      text             NOT NULL,
    service           text COLLATE "C" NOT NULL,
    environment       text COLLATE "C" NOT NULL,
    initiator         text             NOT NULL,
    initiator_kind    text             NOT NULL DEFAULT '',
    version           text             NOT NULL DEFAULT '',
    commit_id         text             NOT NULL DEFAULT '',
    ref               text             NOT NULL DEFAULT '',
    artifact_digest   text             NOT NULL DEFAULT '',
    ticket            text             NOT NULL DEFAULT '',
    reason            text             NOT NULL DEFAULT '',
    approver          text             NOT NULL DEFAULT '',
    pipeline_url      text             NOT NULL DEFAULT '',
    rolls_back        integer,
    data              json, -- as it was given: jsonb does not keep the text, which is hashed
    host              text             NOT NULL,
    started_at        timestamptz      NOT NULL DEFAULT clock_timestamp(),
    ended_at          timestamptz,
    outcome           text,
    next_generator_id integer          NOT NULL DEFAULT 0 CHECK (next_generator_id BETWEEN 0 AND 100000),
    PRIMARY KEY (namespace, launch_id),
    CONSTRAINT idmint_launch_key UNIQUE (namespace, idempotency_key),
    FOREIGN KEY (namespace, rolls_back) REFERENCES idmint_launch (namespace, launch_id),
    CHECK ((ended_at IS NULL) = (outcome IS NULL))
) WITH (fillfactor = 80);

CREATE TABLE idmint_generator (
    namespace    text COLLATE "C" NOT NULL,
    launch_id    integer          NOT NULL,
    generator_id integer          NOT NULL CHECK (generator_id BETWEEN 0 AND 99999),
    token        text COLLATE "C" NOT NULL CONSTRAINT idmint_generator_token UNIQUE,
    host         text             NOT NULL,
    pid          bigint           NOT NULL,
    claimed_at   timestamptz      NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (namespace, launch_id, generator_id),
    FOREIGN KEY (namespace, launch_id) REFERENCES idmint_launch (namespace, launch_id)
);

CREATE TABLE idmint_launch_event (
    event_id  bigint           GENERATED ALWAYS AS IDENTITY PRIMARY KEY, -- for their order alone: it has gaps
    namespace text COLLATE "C" NOT NULL REFERENCES idmint_namespace,
    launch_id integer, -- NULL for an event of the namespace
    kind      text             NOT NULL,
    actor     text             NOT NULL,
    at        timestamptz      NOT NULL DEFAULT clock_timestamp(),
    detail    json,
    FOREIGN KEY (namespace, launch_id) REFERENCES idmint_launch (namespace, launch_id)
);

CREATE INDEX idmint_launch_event_launch ON idmint_launch_event (namespace, launch_id);

-- What was acknowledged stays: no row is deleted or renumbered, and counters only rise.

CREATE FUNCTION idmint_refuse() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'idmint: %', TG_ARGV[0] USING ERRCODE = 'integrity_constraint_violation';
END
$$;

CREATE TRIGGER idmint_namespace_delete BEFORE DELETE ON idmint_namespace
FOR EACH ROW EXECUTE FUNCTION idmint_refuse('namespaces are not deleted');

CREATE TRIGGER idmint_namespace_truncate BEFORE TRUNCATE ON idmint_namespace
FOR EACH STATEMENT EXECUTE FUNCTION idmint_refuse('namespaces are not deleted');

CREATE TRIGGER idmint_namespace_update BEFORE UPDATE ON idmint_namespace
FOR EACH ROW WHEN (NEW.namespace IS DISTINCT FROM OLD.namespace OR NEW.last_launch_id < OLD.last_launch_id)
EXECUTE FUNCTION idmint_refuse('launch numbers only rise');

CREATE TRIGGER idmint_launch_delete BEFORE DELETE ON idmint_launch
FOR EACH ROW EXECUTE FUNCTION idmint_refuse('launches are not deleted');

CREATE TRIGGER idmint_launch_truncate BEFORE TRUNCATE ON idmint_launch
FOR EACH STATEMENT EXECUTE FUNCTION idmint_refuse('launches are not deleted');

CREATE TRIGGER idmint_launch_update BEFORE UPDATE OF
    namespace, launch_id, idempotency_key, request_hash, service, environment, initiator, initiator_kind, version, commit_id, ref,
    artifact_digest, ticket, reason, approver, pipeline_url, rolls_back, data, host, started_at
ON idmint_launch
FOR EACH ROW EXECUTE FUNCTION idmint_refuse('launches are not changed');

CREATE TRIGGER idmint_launch_end BEFORE UPDATE OF ended_at, outcome ON idmint_launch
FOR EACH ROW WHEN (OLD.ended_at IS NOT NULL) EXECUTE FUNCTION idmint_refuse('a launch ends once');

CREATE TRIGGER idmint_launch_generator BEFORE UPDATE OF next_generator_id ON idmint_launch
FOR EACH ROW WHEN (NEW.next_generator_id < OLD.next_generator_id) EXECUTE FUNCTION idmint_refuse('generator numbers only rise');

CREATE TRIGGER idmint_generator_delete BEFORE DELETE ON idmint_generator
FOR EACH ROW EXECUTE FUNCTION idmint_refuse('claims are not deleted');

CREATE TRIGGER idmint_generator_truncate BEFORE TRUNCATE ON idmint_generator
FOR EACH STATEMENT EXECUTE FUNCTION idmint_refuse('claims are not deleted');

CREATE TRIGGER idmint_generator_update BEFORE UPDATE ON idmint_generator
FOR EACH ROW EXECUTE FUNCTION idmint_refuse('claims are not changed');

CREATE TRIGGER idmint_launch_event_delete BEFORE DELETE ON idmint_launch_event
FOR EACH ROW EXECUTE FUNCTION idmint_refuse('events are not deleted');

CREATE TRIGGER idmint_launch_event_truncate BEFORE TRUNCATE ON idmint_launch_event
FOR EACH STATEMENT EXECUTE FUNCTION idmint_refuse('events are not deleted');

CREATE TRIGGER idmint_launch_event_update BEFORE UPDATE ON idmint_launch_event
FOR EACH ROW EXECUTE FUNCTION idmint_refuse('events are not changed');

INSERT INTO idmint_schema (version) VALUES (1);
