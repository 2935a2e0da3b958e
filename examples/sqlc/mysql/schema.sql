-- The columns are those that sqlid.Column writes: a test compares them.
CREATE TABLE IF NOT EXISTS users (
  `id` BIGINT NOT NULL PRIMARY KEY CHECK (`id` BETWEEN 10000000000 AND 9223372029999999999 AND `id` % 100000 <> 0),
  name VARCHAR(100) NOT NULL
);

CREATE TABLE IF NOT EXISTS orders (
  `id` BIGINT NOT NULL PRIMARY KEY CHECK (`id` BETWEEN 10000000000 AND 9223372029999999999 AND `id` % 100000 <> 0),
  `user_id` BIGINT NOT NULL CHECK (`user_id` BETWEEN 10000000000 AND 9223372029999999999 AND `user_id` % 100000 <> 0),
  `event_id` BINARY(10) NOT NULL CHECK (`event_id` <> X'00000000000000000000'),
  FOREIGN KEY (user_id) REFERENCES users (id)
);

-- A view gives names to what a LEFT JOIN and an aggregate return: overrides go by them.
CREATE OR REPLACE VIEW user_orders AS
SELECT u.id AS user_id, o.id AS order_id, o.event_id AS event
FROM users u LEFT JOIN orders o ON o.user_id = u.id;

CREATE OR REPLACE VIEW user_totals AS
SELECT user_id, count(*) AS orders, max(id) AS newest FROM orders GROUP BY user_id;
