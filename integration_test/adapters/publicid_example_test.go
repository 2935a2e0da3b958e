package adapters_test

import (
	"database/sql"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"

	_ "github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/publicid"
	"github.com/idmint/idmint/sqlid"
)

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
