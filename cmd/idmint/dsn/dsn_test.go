package dsn

import (
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/ClickHouse/clickhouse-go/v2"
	"github.com/go-sql-driver/mysql"
	"github.com/jackc/pgx/v5/pgconn"
)

func TestParse(t *testing.T) {
	for _, test := range []struct {
		text           string
		kind           Kind
		host, database string
		shown          string
		source         string
	}{
		{"sqlite:/data/a b#c.db", SQLite, "", "", "sqlite:/data/a b#c.db", "/data/a b#c.db"},
		{"sqlite:c:/x:y", SQLite, "", "", "sqlite:c:/x:y", "c:/x:y"},
		{
			"postgres://h/app?schema=a%20b&sslmode=disable", Postgres, "h", "app",
			"postgres://h/app", "postgres://h/app?sslmode=disable",
		},
		{"postgresql://h", Postgres, "h", "", "postgres://h", "postgres://h"},
		{"postgres://a,b/app", Postgres, "a,b", "app", "postgres://a,b/app", "postgres://a,b/app"},
		{
			"postgres://ann@[::1]:1/app?sslmode=disable", Postgres, "[::1]:1", "app",
			"postgres://ann@[::1]:1/app", "postgres://ann@[::1]:1/app?sslmode=disable",
		},
		{
			"postgres://ann:p@w@h:5433/a%40b", Postgres, "h:5433", "a@b",
			"postgres://ann:xxxxx@h:5433/a@b", "postgres://ann:p%40w@h:5433/a%40b",
		},
		{
			"mysql://h/app?sql_mode=%40%40sql_mode", MySQL, "h", "app", "mysql://h/app",
			"tcp(h:3306)/app?sql_mode=%40%40sql_mode",
		},
		{
			"mariadb://ann:p%40%2F%3A@h:3307/app?timeout=3s", MySQL, "h:3307", "app",
			"mysql://ann:xxxxx@h:3307/app", "ann:p@/:@tcp(h:3307)/app?timeout=3s",
		},
		{"mysql://[::1]/", MySQL, "[::1]", "", "mysql://[::1]/", "tcp([::1]:3306)/"},
		{
			"clickhouse://ann:pw@h/app", ClickHouse, "h", "app", "clickhouse://ann:xxxxx@h/app",
			"clickhouse://ann:pw@h:9000/app",
		},
		{
			"clickhouse://h/app?secure=true", ClickHouse, "h", "app", "clickhouse://h/app",
			"clickhouse://h:9440/app?secure=true",
		},
	} {
		d, err := Parse(test.text)
		if err != nil || d.Kind != test.kind || d.Host() != test.host ||
			d.Database() != test.database || d.String() != test.shown || d.Source() != test.source {
			t.Errorf("%s: %s %q %q %q %q, %v", test.text, d.Kind, d.Host(), d.Database(),
				d.String(), d.Source(), err)
			continue
		}
		again, err := Parse(d.URL())
		if err != nil || again.Source() != d.Source() || again.URL() != d.URL() {
			t.Errorf("%s: its URL is read as %q, %v", test.text, again.URL(), err)
		}
	}
}

// What the driver reads is what the name says, whatever the password is made of.
func TestSourceIsRead(t *testing.T) {
	type read struct{ user, password, database, host string }
	reads := map[string]func(source string) (read, error){
		"postgres": func(source string) (read, error) {
			c, err := pgconn.ParseConfig(source)
			return read{c.User, c.Password, c.Database, fmt.Sprint(c.Host, ":", c.Port)}, err
		},
		"mysql": func(source string) (read, error) {
			c, err := mysql.ParseDSN(source)
			return read{c.User, c.Passwd, c.DBName, c.Addr}, err
		},
		"clickhouse": func(source string) (read, error) {
			c, err := clickhouse.ParseDSN(source)
			return read{c.Auth.Username, c.Auth.Password, c.Auth.Database, c.Addr[0]}, err
		},
	}
	for _, password := range []string{"pw", "", "p@ss:w/o?r#d%", "ü ✓", "'\"\\", "a&b=c", ")(", "%40"} {
		for kind, reads := range reads {
			u := url.URL{Scheme: kind, User: url.UserPassword("ann", password), Host: "h:1234", Path: "/app"}
			d, err := Parse(u.String())
			if err != nil {
				t.Fatalf("%s: %v", &u, err)
			}
			got, err := reads(d.Source())
			if want := (read{"ann", password, "app", "h:1234"}); got != want || err != nil {
				t.Errorf("%s is read as %+v, %v", &u, got, err)
			}
		}
	}
}

const secret = "hunter2"

func TestBadNames(t *testing.T) {
	for text, want := range map[string]string{
		"":                                     "no database is named",
		"app.db":                               "the name must begin with the kind of database and a colon",
		"host=h password=" + secret:            "must begin with the kind",
		":" + secret:                           "must begin with the kind",
		"SQLITE:" + secret:                     "must begin with the kind",
		"oracle:" + secret:                     "unknown kind of database: want sqlite:PATH",
		secret + ":h":                          "unknown kind of database",
		"sqlite:":                              "sqlite: want sqlite:PATH, with a path",
		"sqlite://" + secret:                   "sqlite: want sqlite:PATH",
		"sqlite:a?_auth=" + secret:             "sqlite: want sqlite:PATH",
		"postgres:" + secret:                   "postgres: not a URL such as",
		"postgres://":                          "postgres: not a URL such as",
		"postgres://ann:" + secret + "#@h/app": "write characters like @ / ? # % of a password as %40",
		"mysql://ann:" + secret + "%@h/app":    "mysql: not a URL such as",
		"mysql://ann:pw@h:" + secret + "/app":  "mysql: not a URL such as",
		"postgres://ann:p@" + secret +
			"/w#d@h/app": "write characters like @ / ? # % of a password as %40",
		"postgres://ann:p@" + secret + "/w@h/app":    "postgres: not a URL such as",
		"mysql://ann:1@" + secret + "/w#d@h/app":     "mysql: not a URL such as",
		"mysql://ann:17?" + secret + "@h/app":        "mysql: not a URL such as",
		"clickhouse://ann:17/" + secret + "?w@h/app": "clickhouse: not a URL such as",
		"clickhouse://ann:17/" + secret + "#w":       "clickhouse: not a URL such as",
		"postgres://h/app?sslmode=" + secret:         "postgres: the settings after ?",
		"postgres://h/app?sslrootcert=/no/" + secret: "postgres: the settings after ?",
		"mysql://h/app?timeout=" + secret:            "mysql: the settings after ?",
		"clickhouse://h/app?dial_timeout=" +
			secret: "clickhouse: the settings after ?",
		"clickhouse://ann:" + secret +
			"@h/app?max_open_conns=x": "clickhouse: the settings after ?",
	} {
		d, err := Parse(text)
		var wrong *Error
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), want) ||
			strings.Contains(err.Error(), secret) {
			t.Errorf("%s: %v, %v; want %q", text, d, err, want)
		}
	}
}

// Of what is behind the kind, an error and the name as it is shown repeat the user, the host and
// the database at most.
func FuzzNoPasswordLeaks(f *testing.F) {
	for _, text := range []string{
		"postgres://ann:§@h:1/app",            // in its place
		"postgres://ann:§@h:1/app?password=§", // in libpq's other place
		"mysql://ann:§@h/app?x=§",
		"mysql://ann:a§b%@h/app", // which is no URL
		"clickhouse://ann:§@h/app?password=§",
		"clickhouse:§",
		"postgres:ann:§@h/app",
		"postgres://ann:1@§/w#d@h/app", // which ends in the midst of the password, as a URL
		"mysql://ann:1@§/w@h/app",
		"mysql://ann:17?§@h/app",
		"clickhouse://ann:17/§#@h/app",
		"postgres://ann@h/a%40\"§", // which is not written as it is read
		"§",
		"sqlite://ann:§@h",
	} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		const mark = "s3cr3th0rse"
		d, err := Parse(strings.ReplaceAll(text, "§", mark))
		if err != nil {
			if strings.Contains(err.Error(), mark) {
				t.Errorf("%q: %v", text, err)
			}
			return
		}
		if d.Kind == SQLite { // has none
			return
		}
		for _, part := range []string{d.Host(), d.Database(), d.url.User.Username(), d.url.Path} {
			if strings.Contains(part, mark) &&
				(part == d.url.User.Username() ||
					!strings.Contains(text[strings.LastIndex(text, "§"):], "@")) {
				return // whoever writes it there shows it, unless it is what stands before an @
			}
		}
		if strings.Contains(d.String(), mark) {
			t.Errorf("%q is shown as %s", text, d)
		}
		if again, err := Parse(d.URL()); err != nil || again.Source() != d.Source() {
			t.Errorf("%q: its URL %q is read as %q, %v", text, d.URL(), again.URL(), err)
		}
	})
}
