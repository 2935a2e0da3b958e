-- A trim may delete claims: see launchlog.Log.Trim. The newest one of a launch stays, and those of the last day.

CREATE OR REPLACE FUNCTION idmint_keep_claim() RETURNS trigger LANGUAGE plpgsql AS $$
DECLARE
    newer boolean;
BEGIN
    IF OLD.claimed_at < clock_timestamp() - interval '24 hours' THEN
        -- The table is that of the trigger, whatever the search_path is.
        EXECUTE format('SELECT EXISTS (SELECT FROM %I.%I WHERE namespace = $1 AND launch_id = $2 AND generator_id > $3)',
            TG_TABLE_SCHEMA, TG_TABLE_NAME) INTO newer USING OLD.namespace, OLD.launch_id, OLD.generator_id;
        IF newer THEN
            RETURN OLD;
        END IF;
    END IF;
    RAISE EXCEPTION 'idmint: claims of the last day, and the newest one of a launch, are not deleted'
        USING ERRCODE = 'integrity_constraint_violation';
END
$$;

DROP TRIGGER idmint_generator_delete ON idmint_generator;

CREATE TRIGGER idmint_generator_delete BEFORE DELETE ON idmint_generator
FOR EACH ROW EXECUTE FUNCTION idmint_keep_claim();

INSERT INTO idmint_schema (version) VALUES (7);
