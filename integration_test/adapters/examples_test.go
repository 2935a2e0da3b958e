package adapters_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"

	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/launchlog/sqlite"
	"github.com/idmint/idmint/migrations"
)

// examplesDir has the programs that tests run, once buildExamples has built them side by side.
var examplesDir string

var buildExamples = sync.OnceValue(func() (err error) {
	if examplesDir, err = os.MkdirTemp("", "idmint-examples-"); err != nil {
		return err
	}
	cmd := exec.Command("go", "build", "-ldflags=-w", "-o", examplesDir)
	for _, name := range []string{
		"bun", "ceiling", "clickhouse", "ent", "gorm", "http", "pipeline", "postgres", "snowflake", "sqlc",
	} {
		cmd.Args = append(cmd.Args, "github.com/idmint/idmint/examples/"+name)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w\n%s", err, out)
	}
	return nil
})

// example is a program of examples.
func example(t *testing.T, name string) (path string) {
	t.Helper()
	try(t, buildExamples())
	return filepath.Join(examplesDir, name)
}

// A shop is a database, with the launch log's tables in PostgreSQL, and what an example calls it.
type shop struct{ dir, db string }

func newShop(t *testing.T, dialect migrations.Dialect) shop {
	t.Helper()
	if dialect == migrations.SQLite {
		return shop{t.TempDir(), "sqlite:shop.db"}
	}
	d := dbtest.New(t, databases.Postgres)
	_, _, err := migrations.Up(t.Context(), dbtest.Open(t, d), dialect)
	try(t, err)
	return shop{t.TempDir(), d.Source()}
}

// run runs a program of examples, in a launch for development.
func (s shop) run(t *testing.T, name string, env ...string) string {
	t.Helper()
	cmd := exec.Command(example(t, name))
	cmd.Dir = s.dir
	cmd.Env = append(append(os.Environ(), "IDMINT_DB="+s.db), env...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", name, err, strings.TrimSpace(string(out)))
	}
	return string(out)
}

// GORM writes statements that took more than 200 ms to standard output, in colours.
var slowStatement = regexp.MustCompile("(?m)^.*[\r\x1b].*\n")

// heard compares what programs say, of one run after another in a new shop, with what they should.
// Where the log does not answer a later start within two seconds, IDs begin at counter 1 again,
// below those that are stored. So all runs may be repeated, five times at most.
func heard(t *testing.T, run func() (said []string), want ...string) {
	t.Helper()
	for try := 1; ; try++ {
		said := run()
		if slices.Equal(said, want) {
			return
		}
		if try == 5 || len(want) == 1 {
			t.Errorf("it says %q, want %q", said, want)
			return
		}
	}
}

// The examples do what the README, docs/use/sqlc.md and docs/use/database-sql.md say.
func TestExamples(t *testing.T) {
	t.Parallel()
	const sqlcRows = "Ann is 10000000001\nBob is 20000000001\n" +
		"10000000001 has an order: true\n20000000001 has an order: false\n" +
		"10000000001 has 1 order, the newest is 30000000001\n"
	orders := []string{
		"Ann is 10000000001 and ordered 20000000001 and 30000000001\n",
		"Ann is 10000000001 and ordered 50000100001 and 60000100001\n",
	}
	for _, c := range []struct {
		example string
		dialect migrations.Dialect
		want    []string // of one run after another
	}{
		{
			"postgres", migrations.Postgres, []string{
				"Ann is 10000000001\nCem is 30000000001\n",
				"Ann is 40000100001\nCem is 60000100001\n", // above the first run's
			},
		},
		{"bun", migrations.Postgres, orders},
		{"bun", migrations.SQLite, orders},
		{"ent", migrations.Postgres, orders},
		{"ent", migrations.SQLite, orders},
		{
			"gorm", migrations.Postgres, []string{
				"Ann ordered tea by 20000000001 as 10000000001\n" +
					"Ann ordered milk by 30000000001 as 10000000001\n",
			},
		},
		{
			"sqlc", migrations.Postgres, []string{
				"Ann is 10000000001\nBob is 20000000001\n" +
					"20000000001 has no order, and was invited by 10000000001\n" +
					"10000000001 pays 1200 for [30000000001 40000000001] and 2 events\n" +
					"both events are of [30000000001 40000000001]\n",
			},
		},
		{"sqlc", migrations.SQLite, []string{sqlcRows}},
		{
			"pipeline", migrations.Postgres,
			[]string{"minted: 1 round trips\nRETURNING: 4 round trips\n"},
		},
	} {
		t.Run(c.example+"/"+string(c.dialect), func(t *testing.T) {
			t.Parallel()
			heard(t, func() (said []string) {
				s := newShop(t, c.dialect)
				if c.dialect == migrations.SQLite && (c.example == "bun" || c.example == "ent") {
					s.db = "" // which is SQLite to them
				}
				for range c.want {
					said = append(said, slowStatement.ReplaceAllString(s.run(t, c.example), ""))
				}
				return said
			}, c.want...)
		})
	}
	// A program that fails tells the log how far its IDs have come all the same.
	t.Run("failing", func(t *testing.T) {
		t.Parallel()
		heard(t, func() []string {
			s := newShop(t, migrations.SQLite)
			path := filepath.Join(s.dir, "shop.db")
			db := dbtest.OpenSource(t, "sqlite3", sqlite.DSN(path, sqlite.Create))
			dbtest.Exec(t, db, "CREATE TABLE users (id INTEGER PRIMARY KEY)")
			cmd := exec.Command(example(t, "sqlc"))
			cmd.Dir, cmd.Env = s.dir, append(os.Environ(), "IDMINT_DB="+s.db)
			out, err := cmd.CombinedOutput()
			if cmd.ProcessState.ExitCode() != 1 || !strings.Contains(string(out), "no column named name") {
				t.Fatalf("%v: %s", err, out)
			}
			dbtest.Exec(t, db, "DROP VIEW user_orders", "DROP VIEW user_totals", "DROP TABLE orders",
				"DROP TABLE users")
			first, _, _ := strings.Cut(s.run(t, "sqlc"), "\n")
			return []string{"", first}
		}, "", "Ann is 40000100001")
	})
	t.Run("ceiling", func(t *testing.T) {
		t.Parallel()
		s := newShop(t, migrations.SQLite)
		event := regexp.MustCompile(`^Event ([2-9a-x]{16}) at 20.* UTC\n$`)
		var last string
		for range 2 {
			got := event.FindStringSubmatch(s.run(t, "ceiling"))
			if got == nil || got[1] <= last {
				t.Fatalf("it says %q after %s", got, last)
			}
			last = got[1]
		}
	})
	t.Run("clickhouse", func(t *testing.T) {
		t.Parallel()
		out := newShop(t, migrations.SQLite).run(t, "clickhouse", "CLICKHOUSE_DSN="+
			dbtest.New(t, databases.ClickHouse).Source())
		var bytes float64
		if _, err := fmt.Sscanf(out, "%f bytes per ID", &bytes); err != nil || bytes <= 0 ||
			bytes > 0.02 {
			t.Errorf("it says %q: %v", out, err)
		}
	})
}

// An httpService is the process of examples/http.
type httpService struct {
	url string
	cmd *exec.Cmd
	log *bufio.Reader
}

func startHTTP(t *testing.T, program, dir string) *httpService {
	t.Helper()
	cmd := exec.Command(program)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "ADDRESS=127.0.0.1:0")
	stderr, err := cmd.StderrPipe()
	try(t, err)
	try(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() }) // of one that a failed test left
	s := &httpService{cmd: cmd, log: bufio.NewReader(stderr)}
	line, err := s.log.ReadString('\n')
	if s.url = regexp.MustCompile(`http://\S+`).FindString(line); s.url == "" {
		t.Fatalf("it says %q, %v", line, err)
	}
	return s
}

// stop asks the process to end, and waits until it has.
func (s *httpService) stop(t *testing.T) {
	t.Helper()
	try(t, s.cmd.Process.Signal(syscall.SIGTERM))
	rest, readErr := io.ReadAll(s.log)
	if err := s.cmd.Wait(); err != nil || readErr != nil || len(rest) != 0 {
		t.Errorf("it ended with %v, %v, and said %s", err, readErr, rest)
	}
}

// ask returns an answer's status, location and body.
func (s *httpService) ask(t *testing.T, method, path, body string) (int, string, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.url+path,
		strings.NewReader(body))
	try(t, err)
	response, err := http.DefaultClient.Do(request)
	try(t, err)
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.Header.Get("Content-Type") != "application/json" {
		t.Errorf("%s %s: %v, %v", method, path, response.Header, err)
	}
	return response.StatusCode, response.Header.Get("Location"), strings.TrimSpace(string(text))
}

// The service of docs/use/http.md, as a process: IDs in paths, in JSON and in query parameters.
func TestHTTPExample(t *testing.T) {
	t.Parallel()
	dir := newShop(t, migrations.SQLite).dir
	program := example(t, "http")
	t.Run("page", func(t *testing.T) { testHTTPPage(t, program) })
	s := startHTTP(t, program, dir)
	const ann = `{"id":"10000000001","name":"Ann","invited_by":null}`
	// A byte too much, at which the service has read all of it. Had it not, it would reset the
	// connection, and a client that is slow to read would get no answer.
	tooLong := `{"name":"` + strings.Repeat("x", 1<<16+1-len(`{"name":""}`)) + `"}`
	for _, c := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/users", `{"name":"Ann"}`, 201, ann},
		{"GET", "/users/10000000001", "", 200, ann},
		{"POST", "/users", `{"name":"Bob"}`, 201, `{"id":"20000000001","name":"Bob",`},
		{"GET", "/users/20000000002", "", 404, `{"error":"no such user"}`},
		{"GET", "/users/0", "", 400, `{"error":"idtype: \"0\" as DecimalID: `},
		{"GET", "/users?after=20000000001", "", 400, `{"error":"after \"20000000001\": must be the value next of a page`},
		{"GET", "/users?limit=101", "", 400, `{"error":"limit \"101\": must be 1 to 100"}`},
		{
			"POST", "/users", `{"name":"Cem","invited_by":1e10}`, 400,
			`{"error":"idtype: \"1e10\" as DecimalID: `,
		},
		{
			"POST", "/users", `{"name":"Cem","invited_by":"20000000002"}`, 400,
			`{"error":"invited_by 20000000002: no such user"}`,
		},
		{"POST", "/users", `{"id":"30000000001","name":"Cem"}`, 400, `{"error":"must have a name and no id"}`},
		{"POST", "/users", tooLong, 400, `{"error":"http: `},
	} {
		status, location, got := s.ask(t, c.method, c.path, c.body)
		if status != c.status || !strings.HasPrefix(got, c.want) {
			t.Errorf("%s %s %.50s: %d %.200s, want %d %s", c.method, c.path, c.body, status, got, c.status,
				c.want)
		}
		if status == 201 {
			if _, _, again := s.ask(t, "GET", location, ""); again != got {
				t.Errorf("at %s is %s, want %s", location, again, got)
			}
		}
	}
	s.stop(t)

	// The first process counts behind the second. Its rows are the newest all the same.
	s = startHTTP(t, program, dir)
	second := startHTTP(t, program, dir)
	for i, writer := range []*httpService{second, second, second, s, s} {
		status, _, got := writer.ask(t, "POST", "/users", fmt.Sprintf(`{"name":"%d"}`, i))
		if status != 201 {
			t.Fatal(status, got)
		}
	}
	second.stop(t)
	var names []string
	for path := "/users?limit=2"; path != ""; {
		var page struct {
			Users []struct{ Name string }
			Next  string
		}
		_, _, got := s.ask(t, "GET", path, "")
		if err := json.Unmarshal([]byte(got), &page); err != nil || len(page.Users) > 2 {
			t.Fatalf("%s: %s, %v", path, got, err)
		}
		for _, u := range page.Users {
			names = append(names, u.Name)
		}
		path = ""
		if page.Next != "" {
			path = "/users?limit=2&after=" + page.Next
		}
	}
	if want := []string{"4", "3", "2", "1", "0", "Bob", "Ann"}; !slices.Equal(names, want) {
		t.Errorf("newest first: %q, want %q", names, want)
	}
	s.stop(t)

	source, err := os.ReadFile("../../examples/http/users.go")
	try(t, err)
	_, query, _ := strings.Cut(string(source), "const newestFirst = `")
	query, _, _ = strings.Cut(query, "`")
	db := dbtest.OpenSource(t, "sqlite3", sqlite.DSN(filepath.Join(dir, "shop.db"), sqlite.Create))
	var number int
	var plan string
	err = db.QueryRow("EXPLAIN QUERY PLAN "+query, 1, 1, 1).Scan(&number, &number, &number, &plan)
	if !strings.HasPrefix(plan, "SEARCH users USING INDEX users_by_creation") {
		t.Errorf("%s: %s, %v", query, plan, err)
	}
}

// testHTTPPage: the requests and answers of docs/use/http.md.
func testHTTPPage(t *testing.T, program string) {
	page, err := os.ReadFile("../../docs/use/http.md")
	try(t, err)
	_, block, _ := strings.Cut(string(page), "```http\n")
	block, _, _ = strings.Cut(block, "```")
	lines := strings.Split(strings.TrimSpace(block), "\n")
	s := startHTTP(t, program, newShop(t, migrations.SQLite).dir)
	next := regexp.MustCompile(`"next":"([^"]+)"`)
	cursor := ""
	for i := 0; i+1 < len(lines); i += 2 {
		request := strings.SplitN(strings.ReplaceAll(lines[i], "CURSOR", cursor)+" ", " ", 3)
		status, _, body := s.ask(t, request[0], request[1], request[2])
		if found := next.FindStringSubmatch(body); found != nil {
			cursor, body = found[1], next.ReplaceAllString(body, `"next":"CURSOR"`)
		}
		if got := fmt.Sprint(status, " ", body); got != lines[i+1] {
			t.Errorf("%s\n%s, want\n%s", lines[i], got, lines[i+1])
		}
	}
	if len(lines) < 14 {
		t.Errorf("the page has %d lines", len(lines))
	}
	s.stop(t)
}
