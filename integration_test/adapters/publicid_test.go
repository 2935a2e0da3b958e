package adapters_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	_ "github.com/mattn/go-sqlite3"
	gormsqlite "gorm.io/driver/sqlite"
	"gorm.io/gorm"
	"gorm.io/gorm/logger"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/integration_test/databases"
	"github.com/idmint/idmint/integration_test/dbtest"
	"github.com/idmint/idmint/publicid"
	"github.com/idmint/idmint/sqlid"
	"github.com/idmint/idmint/sqlid/pgxid"
)

const annID = 14150009200065

// The page's command makes a key, and its pattern is that of the texts.
func TestPublicIDPage(t *testing.T) {
	t.Parallel()
	page := string(must(os.ReadFile("../../docs/use/public-ids.md")))
	_, command, _ := strings.Cut(page, "```sh\n")
	command, _, _ = strings.Cut(command, "```")
	out := must(exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", command).Output())
	if _, err := publicid.ParseKey(strings.TrimSpace(string(out))); err != nil {
		t.Errorf("%s: %v", command, err)
	}
	if !strings.Contains(page, users.Pattern()) {
		t.Errorf("the page has another pattern than %s", users.Pattern())
	}
}

// The column holds the number by parameters, rows, structs and COPY, in modes of pgx.
func TestPublicIDPgx(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	source := dbtest.New(t, databases.Postgres).Source()
	for _, mode := range apart {
		t.Run(mode.String(), func(t *testing.T) {
			config := must(pgx.ParseConfig(source))
			config.DefaultQueryExecMode = mode
			conn := must(pgx.ConnectConfig(ctx, config))
			defer conn.Close(ctx)
			try(t, pgxid.AfterConnect(ctx, conn))
			must(conn.Exec(ctx, "CREATE TEMPORARY TABLE users (id bigint PRIMARY KEY, boss bigint)"))
			ann, bob := publicid.Of[inUsers](UserID(annID)), publicid.Of[inUsers](UserID(57))
			must(conn.Exec(ctx, "INSERT INTO users VALUES ($1, NULL)", ann))
			must(conn.CopyFrom(ctx, pgx.Identifier{"users"}, []string{"id", "boss"},
				pgx.CopyFromRows([][]any{{bob, ann}})))

			var number int64
			var boss sql.Null[PublicUserID]
			row := conn.QueryRow(ctx, "SELECT id, boss FROM users WHERE id = $1", &bob)
			if err := row.Scan(&number, &boss); err != nil || number != 57 || boss.V != ann {
				t.Errorf("%d, %v, %v", number, boss, err)
			}
			type user struct {
				ID   PublicUserID
				Boss *PublicUserID
			}
			rows := must(conn.Query(ctx, "SELECT id, boss FROM users ORDER BY id"))
			all := must(pgx.CollectRows(rows, pgx.RowToStructByName[user]))
			if len(all) != 2 || all[0].ID != bob || *all[0].Boss != ann || all[1].Boss != nil {
				t.Errorf("%+v", all)
			}
			_, err := conn.Exec(ctx, "INSERT INTO users VALUES ($1, NULL)", PublicUserID{})
			if err == nil {
				t.Error("zero was stored")
			}
		})
	}
}

func TestPublicIDMariaDB(t *testing.T) {
	t.Parallel()
	db := dbtest.Open(t, dbtest.New(t, databases.MariaDB))
	dbtest.Exec(t, db, "CREATE TABLE users (id BIGINT PRIMARY KEY)")
	ann := publicid.Of[inUsers](UserID(annID))
	must(db.Exec("INSERT INTO users VALUES (?)", ann))
	var number int64
	var id PublicUserID
	row := db.QueryRow("SELECT id, id FROM users WHERE id = ?", ann)
	if err := row.Scan(&number, &id); err != nil || number != annID || id != ann {
		t.Errorf("%d, %v, %v", number, id, err)
	}
}

// A model of GORM that is read and shown as it is. Its key comes from elsewhere.
func TestPublicIDGORM(t *testing.T) {
	t.Parallel()
	type Profile struct {
		ID     PublicUserID
		Boss   *PublicUserID
		Friend sql.Null[PublicUserID] `gorm:"type:bigint"`
	}
	db := must(gorm.Open(gormsqlite.Open(":memory:"), &gorm.Config{Logger: logger.Discard}))
	try(t, db.AutoMigrate(&Profile{}))
	bob := publicid.Of[inUsers](UserID(57))
	in := Profile{publicid.Of[inUsers](UserID(annID)), &bob, sql.Null[PublicUserID]{V: bob, Valid: true}}
	try(t, db.Create(&in).Error)
	var out Profile
	if err := db.First(&out, "id = ?", in.ID).Error; err != nil || out.ID != in.ID ||
		*out.Boss != bob || out.Friend != in.Friend {
		t.Errorf("%+v, %v", out, err)
	}
	var kind, declared string
	err := db.Raw("SELECT typeof(id) FROM profiles").Scan(&kind).Error
	if err != nil || kind != "integer" {
		t.Errorf("%s, %v", kind, err)
	}
	if err := db.Raw("SELECT type FROM pragma_table_info('profiles') WHERE name = 'boss'").
		Scan(&declared).Error; err != nil || declared != "bigint" {
		t.Errorf("%s, %v", declared, err)
	}
	if err := db.Create(&Profile{}).Error; err == nil {
		t.Error("zero was stored")
	}
}

// JavaScript makes and reads the same texts, by the page alone.
func TestPublicIDJavaScript(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		t.Skip("node is missing: install nodejs")
	}
	const testdata = "../../publicid/testdata/"
	out, err := exec.CommandContext(t.Context(), node, testdata+"publicid.mjs",
		testdata+"vectors.json").CombinedOutput()
	if err != nil || !strings.HasPrefix(string(out), "48 vectors\n") {
		t.Errorf("%v\n%s", err, out)
	}
}

type UserID = idtype.Decimal[User]

type User struct {
	ID   UserID
	Name string
}

var users *publicid.Codec[UserID] // made in main, before anything is served

type inUsers struct{}

func (inUsers) Codec() *publicid.Codec[UserID] { return users }

type PublicUserID = publicid.ID[UserID, inUsers]

type UserResponse struct {
	ID   PublicUserID `json:"id"`
	Name string       `json:"name"`
}

// There and back, as the page begins.
func Example_page() {
	user := User{ID: 14150009200065}
	key := must(publicid.ParseKey(os.Getenv("PUBLIC_ID_KEY")))
	users := must(publicid.NewScrambled[UserID]("user", key))

	text := must(users.Format(user.ID)) // user_04tj6jeh7nggw1ak
	id := must(users.Parse(text))       // 14150009200065
	fmt.Println(text, id)
	// Output: user_04tj6jeh7nggw1ak 14150009200065
}

// A service over SQLite. The clients see the public IDs, and the table has the BIGINT.
func Example() {
	db := must(sql.Open("sqlite3", ":memory:"))
	defer db.Close()
	db.SetMaxOpenConns(1) // each connection would have a database of its own
	key := must(sqlid.Column[UserID]{Name: "id"}.PrimaryKey(sqlid.SQLite))
	must(db.Exec("CREATE TABLE users (" + key + ", name TEXT NOT NULL)"))
	must(db.Exec("INSERT INTO users VALUES (?, ?)", UserID(14150009200065), "Ann"))

	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", func(w http.ResponseWriter, r *http.Request) {
		var id PublicUserID
		if err := id.UnmarshalText([]byte(r.PathValue("id"))); err != nil {
			http.Error(w, "no such user", http.StatusNotFound)
			return
		}
		var found UserResponse
		row := db.QueryRowContext(r.Context(), "SELECT id, name FROM users WHERE id = ?", id)
		if err := row.Scan(&found.ID, &found.Name); err != nil {
			http.Error(w, "no such user", http.StatusNotFound)
			return
		}
		json.NewEncoder(w).Encode(found)
	})
	for _, id := range []string{"user_04tj6jeh7nggw1ak", "user_028qb9jn01jcq5ty", "14150009200065"} {
		answer := httptest.NewRecorder()
		mux.ServeHTTP(answer, httptest.NewRequest(http.MethodGet, "/users/"+id, nil))
		fmt.Println(answer.Code, strings.TrimSpace(answer.Body.String()))
	}
	// Output:
	// 200 {"id":"user_04tj6jeh7nggw1ak","name":"Ann"}
	// 404 no such user
	// 404 no such user
}
