-- A trim may delete claims: see launchlog.Log.Trim. The newest one of a launch stays, and those of the last day.

DROP TRIGGER idmint_generator_delete;

CREATE TRIGGER idmint_generator_delete BEFORE DELETE ON idmint_generator
WHEN OLD.claimed_at > strftime('%Y-%m-%dT%H:%M:%fZ', 'now', '-1 day') OR NOT EXISTS (SELECT 1 FROM idmint_generator
    WHERE namespace = OLD.namespace AND launch_id = OLD.launch_id AND generator_id > OLD.generator_id)
BEGIN SELECT RAISE(ABORT, 'idmint: claims of the last day, and the newest one of a launch, are not deleted'); END;

INSERT INTO idmint_schema (version) VALUES (7);
