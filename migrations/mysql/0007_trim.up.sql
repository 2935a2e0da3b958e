-- A trim may delete claims: see launchlog.Log.Trim. Nothing changes here, where grants guard the rows: see docs/operate/mysql.md.

INSERT IGNORE INTO idmint_schema (version) VALUES (7);
