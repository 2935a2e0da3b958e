-- The columns are those that sqlid.Column writes: a test compares them.
CREATE TABLE IF NOT EXISTS users (
  "id" INT NOT NULL PRIMARY KEY CHECK (typeof("id") IN ('integer', 'null') AND "id" BETWEEN 10000000000 AND 9223372029999999999 AND "id" % 100000 <> 0),
  name TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE IF NOT EXISTS orders (
  "id" INT NOT NULL PRIMARY KEY CHECK (typeof("id") IN ('integer', 'null') AND "id" BETWEEN 10000000000 AND 9223372029999999999 AND "id" % 100000 <> 0),
  "user_id" INTEGER NOT NULL CHECK (typeof("user_id") IN ('integer', 'null') AND "user_id" BETWEEN 10000000000 AND 9223372029999999999 AND "user_id" % 100000 <> 0)
    REFERENCES users (id),
  "event_id" BLOB NOT NULL CHECK (typeof("event_id") IN ('blob', 'null') AND length("event_id") = 10 AND "event_id" <> zeroblob(10))
) WITHOUT ROWID;

-- A view gives names to what a LEFT JOIN and an aggregate return: overrides go by them.
CREATE VIEW IF NOT EXISTS user_orders AS
SELECT u.id AS user_id, o.id AS order_id, o.event_id AS event
FROM users u LEFT JOIN orders o ON o.user_id = u.id;

CREATE VIEW IF NOT EXISTS user_totals AS
SELECT user_id, count(*) AS orders, max(id) AS newest FROM orders GROUP BY user_id;
