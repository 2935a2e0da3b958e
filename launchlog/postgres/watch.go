package postgres

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"
)

// Watch prepares the connections of an app's pool for [New]. A commit waits for the synchronous
// standby, and an operator or a shutdown of the server may cut off that wait. PostgreSQL then warns
// that the commit may exist on this server only, and New must see the warning. A function that was
// already in config.OnNotice is called as well.
//
//	config, err := pgxpool.ParseConfig(dsn)
//	postgres.Watch(config.ConnConfig)
//	pool, err := pgxpool.NewWithConfig(ctx, config)
func Watch(config *pgx.ConnConfig) {
	next := config.OnNotice
	config.OnNotice = func(conn *pgconn.PgConn, n *pgconn.Notice) {
		if n.Routine == "SyncRepWaitForLSN" { // its text is in the server's language
			conn.CustomData()[doubtful] = true
		}
		if next != nil {
			next(conn, n)
		}
	}
}

const doubtful = "idmint: commit in doubt" // a key of the connection's custom data

// watched returns the mark of a connection.
func watched(conn *pgxpool.Conn) doubt { return conn.Conn().PgConn().CustomData() }

type doubt map[string]any

func (d doubt) clear() { delete(d, doubtful) }

func (d doubt) is() bool { return d[doubtful] == true }
