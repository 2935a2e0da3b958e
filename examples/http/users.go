package main

import (
	"database/sql"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"log"
	"math"
	"net/http"
	"strconv"
	"time"

	"github.com/mattn/go-sqlite3"

	"github.com/idmint/idmint"
	"github.com/idmint/idmint/idtype"
)

type UserID = idtype.Decimal[User]

// A User is a row, and its JSON: {"id":"10000000001","name":"Ann","invited_by":null}.
type User struct {
	ID        UserID  `json:"id"`
	Name      string  `json:"name"`
	InvitedBy *UserID `json:"invited_by"`
	created   int64   // in microseconds
}

// A Page is a list of users, newest first. The next page begins after Next, which is null at the
// end.
type Page struct {
	Users []User  `json:"users"`
	Next  *string `json:"next"`
}

type service struct {
	db  *sql.DB
	ids *idmint.IDs
}

func (s *service) routes() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /users/{id}", s.user)
	mux.HandleFunc("POST /users", s.create)
	mux.HandleFunc("GET /users", s.users)
	return mux
}

func (s *service) user(w http.ResponseWriter, r *http.Request) {
	id, err := idtype.Parse[UserID](r.PathValue("id"))
	if err != nil {
		answer(w, 0, nil, &badRequest{err})
		return
	}
	var u User
	err = s.db.QueryRowContext(r.Context(), "SELECT id, name, invited_by FROM users WHERE id = ?",
		id).Scan(&u.ID, &u.Name, &u.InvitedBy)
	answer(w, http.StatusOK, u, err)
}

func (s *service) create(w http.ResponseWriter, r *http.Request) {
	u, err := s.insert(w, r)
	if err == nil {
		w.Header().Set("Location", "/users/"+u.ID.String())
	}
	answer(w, http.StatusCreated, u, err)
}

// insert mints the user's ID before the row is stored, so nothing has to be read back.
func (s *service) insert(w http.ResponseWriter, r *http.Request) (u User, err error) {
	body := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody))
	body.DisallowUnknownFields()
	if err := body.Decode(&u); err != nil {
		return u, &badRequest{err}
	}
	if u.ID != 0 || u.Name == "" {
		return u, &badRequest{errors.New("must have a name and no id")}
	}
	id, err := s.ids.Next(r.Context())
	if err != nil {
		return u, err
	}
	u.ID = UserID(id)
	_, err = s.db.ExecContext(r.Context(), "INSERT INTO users (id, name, invited_by, created_at) "+
		"VALUES (?, ?, ?, ?)", u.ID, u.Name, u.InvitedBy, time.Now().UnixMicro())
	var refused sqlite3.Error
	if errors.As(err, &refused) && refused.ExtendedCode == sqlite3.ErrConstraintForeignKey {
		err = &badRequest{fmt.Errorf("invited_by %v: no such user", u.InvitedBy)}
	}
	return u, err
}

func (s *service) users(w http.ResponseWriter, r *http.Request) {
	page, err := s.page(r)
	answer(w, http.StatusOK, page, err)
}

// A cursor is the position of a user in the list. The client returns it unchanged.
func (u User) cursor() string {
	place := binary.BigEndian.AppendUint64(nil, uint64(u.created))
	return base64.RawURLEncoding.EncodeToString(idtype.AppendBytes(place, u.ID))
}

// placeOf returns a user at the position of the cursor.
func placeOf(cursor string) (u User, err error) {
	place, err := base64.RawURLEncoding.DecodeString(cursor)
	if err == nil && len(place) == 16 {
		u.created = int64(binary.BigEndian.Uint64(place))
		u.ID, err = idtype.FromBytes[UserID](place[8:])
	}
	if err != nil || u.ID.IsZero() {
		return u, fmt.Errorf("after %.40q: must be the value next of a page", cursor)
	}
	return u, nil
}

// newestFirst is the query for a page of users. It sorts by the time and the ID, because IDs of two
// processes may not be in the order of creation, and two users may be created in the same
// microsecond.
const newestFirst = `SELECT id, name, invited_by, created_at FROM users
	WHERE (created_at, id) < (?, ?) ORDER BY created_at DESC, id DESC LIMIT ?`

// page returns the users after the cursor of the parameter after, or the newest users.
func (s *service) page(r *http.Request) (*Page, error) {
	query, limit := r.URL.Query(), defaultLimit
	after := User{ID: math.MaxInt64, created: math.MaxInt64}
	if query.Has("after") {
		var err error
		if after, err = placeOf(query.Get("after")); err != nil {
			return nil, &badRequest{err}
		}
	}
	if text := query.Get("limit"); text != "" {
		var err error
		if limit, err = strconv.Atoi(text); err != nil || limit < 1 || limit > maxLimit {
			return nil, &badRequest{fmt.Errorf("limit %.20q: must be 1 to %d", text, maxLimit)}
		}
	}
	// One more row than the page shows reveals whether there is another page.
	rows, err := s.db.QueryContext(r.Context(), newestFirst, after.created, after.ID, limit+1)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	page := &Page{Users: []User{}}
	for rows.Next() {
		var u User
		if err := rows.Scan(&u.ID, &u.Name, &u.InvitedBy, &u.created); err != nil {
			return nil, err
		}
		page.Users = append(page.Users, u)
	}
	if len(page.Users) > limit {
		page.Users = page.Users[:limit]
		next := page.Users[limit-1].cursor()
		page.Next = &next
	}
	return page, rows.Err()
}

const (
	maxBody      = 1 << 16
	defaultLimit = 20
	maxLimit     = 100
)

// A badRequest is the client's mistake, such as a bad ID. Its text names the input.
type badRequest struct{ error }

// answer writes a value as JSON, or an error.
func answer(w http.ResponseWriter, status int, value any, err error) {
	var bad *badRequest
	switch {
	case err == nil:
	case errors.As(err, &bad):
		status = http.StatusBadRequest
	case errors.Is(err, sql.ErrNoRows):
		status, err = http.StatusNotFound, errors.New("no such user")
	default:
		log.Print(err)
		status, err = http.StatusInternalServerError, errors.New("internal error")
	}
	if err != nil {
		value = map[string]string{"error": err.Error()}
	}
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(value) // the client may be gone
}
