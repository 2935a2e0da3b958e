-- name: CreateUser :exec
INSERT INTO users (id, name) VALUES (?, ?);

-- name: CreateOrder :exec
INSERT INTO orders (id, user_id, event_id) VALUES (?, ?, ?);

-- name: User :one
SELECT * FROM users WHERE id = ?;

-- name: UsersByID :many
SELECT * FROM users WHERE id IN (sqlc.slice('ids')) ORDER BY id;

-- name: UsersWithOrders :many
SELECT * FROM user_orders ORDER BY user_id, order_id;

-- name: Totals :many
SELECT * FROM user_totals ORDER BY user_id;
