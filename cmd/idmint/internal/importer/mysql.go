package importer

import (
	"context"
	"errors"
	"regexp"
	"strconv"

	"github.com/go-sql-driver/mysql"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/sqlid"
)

var mysqlDialect = &dialect{
	kind:    dsn.MySQL,
	title:   "MySQL and MariaDB",
	refused: func(error) bool { return false },
	begin:   []string{"SET TRANSACTION ISOLATION LEVEL READ COMMITTED", "START TRANSACTION"},
	create: []string{
		`CREATE TABLE IF NOT EXISTS idmint_import (
    import_id   BIGINT       NOT NULL AUTO_INCREMENT PRIMARY KEY,
    import_key  VARCHAR(64)  NOT NULL UNIQUE,
    holder      VARCHAR(64)  NOT NULL, -- the run that stores batches; another run that resumes the import replaces it
    source      TEXT         NOT NULL,
    table_name  VARCHAR(512) NOT NULL,
    launch_id   INT,
    own_launch  BOOLEAN      NOT NULL,
    id_ranges   LONGTEXT     NOT NULL, -- JSON: the first and the last ID of each range
    in_doubt    LONGTEXT     NOT NULL, -- JSON: what was begun in a database without transactions
    stored_rows BIGINT       NOT NULL DEFAULT 0,
    file_bytes  BIGINT       NOT NULL DEFAULT 0,
    file_sha256 VARCHAR(64)  NOT NULL, -- of these bytes
    state       VARCHAR(16)  NOT NULL DEFAULT 'unfinished' CHECK (state IN ('unfinished', 'finished', 'restarted')),
    started_at  DATETIME(3)  NOT NULL,
    changed_at  DATETIME(3)  NOT NULL,
    unfinished  VARCHAR(64)  AS (CASE WHEN state = 'unfinished' THEN SHA2(CONCAT(source, '\n', table_name), 256) END) STORED UNIQUE
) ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin`,
	},
	now: `UTC_TIMESTAMP(3)`, asText: `CONCAT(REPLACE(LEFT(%s, 23), ' ', 'T'), 'Z')`,
	ignore:      `ON DUPLICATE KEY UPDATE import_key = idmint_import.import_key`,
	mostColumns: 1017,
	quote:       sqlid.MySQL.Quote, text: "LONGTEXT",
	tail: " ENGINE = InnoDB DEFAULT CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
	columns: `SELECT column_name, column_type, column_key = 'PRI', sum(column_key = 'PRI') OVER ()
		FROM information_schema.columns WHERE table_schema = DATABASE() AND table_name = ?`,
	tableName: func(name string) string { return name }, foldNames: true,
	isInteger: func(typ string) bool { return len(typ) >= 6 && typ[:6] == "bigint" },
	integer:   "bigint",
	engine: `SELECT coalesce(engine, '') FROM information_schema.tables WHERE table_schema = ` +
		`DATABASE() AND table_name = ?`,
	wantEngine: "InnoDB",
	insert: func(ctx context.Context, s *session, r rows) error {
		// More rows in a statement make it no faster. The driver sends long values by themselves
		// where a packet does not hold all.
		return insertValues(ctx, s, r, min(1000, 65_535/(len(r.columns)+1)),
			func(first int, err error) error {
				var answer *mysql.MySQLError
				if errors.As(err, &answer) {
					if place := rowPlace.FindStringSubmatch(answer.Message); place != nil {
						n, wrong := strconv.Atoi(place[2])
						if wrong == nil && n >= 1 && first+n <= len(r.ids) {
							return r.at(first+n-1, place[1], err)
						}
					}
				}
				return err
			})
	},
}

var rowPlace = regexp.MustCompile("(?:[`']([^`']*)[`'] )?at row ([0-9]+)$")
