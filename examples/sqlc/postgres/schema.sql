-- What sqlid.NamedType writes for keys.UserID and so on: a test compares them.
CREATE DOMAIN "user_id" AS BIGINT CHECK (VALUE BETWEEN 10000000000 AND 9223372029999999999 AND VALUE % 100000 <> 0);
CREATE DOMAIN "order_id" AS BIGINT CHECK (VALUE BETWEEN 10000000000 AND 9223372029999999999 AND VALUE % 100000 <> 0);
CREATE DOMAIN "event_id" AS BYTEA CHECK (octet_length(VALUE) = 10 AND VALUE <> '\x00000000000000000000');

CREATE TABLE users (
  id user_id PRIMARY KEY,
  name text NOT NULL,
  invited_by user_id REFERENCES users (id)
);

CREATE TABLE orders (
  id order_id PRIMARY KEY,
  user_id user_id NOT NULL REFERENCES users (id),
  event_id event_id NOT NULL,
  cents bigint NOT NULL
);
