-- name: CreateUser :exec
INSERT INTO users (id, name, invited_by) VALUES ($1, $2, $3);

-- name: CreateOrders :copyfrom
INSERT INTO orders (id, user_id, event_id, cents) VALUES ($1, $2, $3, $4);

-- name: User :one
SELECT * FROM users WHERE id = $1;

-- name: UsersByID :many
SELECT id, name FROM users WHERE id = ANY(@ids::user_id[]) ORDER BY id;

-- name: OrdersOfEvents :many
SELECT id FROM orders WHERE event_id = ANY(@events::event_id[]) ORDER BY id;

-- name: UsersWithOrders :many
SELECT u.id, u.invited_by, o.id AS order_id, o.event_id
FROM users u LEFT JOIN orders o ON o.user_id = u.id
ORDER BY u.id, o.id;

-- name: Totals :many
SELECT user_id, sum(cents)::bigint AS cents, max(id)::order_id AS newest, array_agg(id ORDER BY id)::order_id[] AS orders,
  array_agg(event_id ORDER BY id)::event_id[] AS events
FROM orders GROUP BY user_id ORDER BY user_id;

-- name: NewestUsers :many
SELECT id, name FROM users WHERE id < sqlc.arg(before)::user_id ORDER BY id DESC LIMIT sqlc.arg(most);
