// Package web binds IDs from the paths, queries and forms of requests, by the frameworks that apps
// often have.
package web

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/gin-gonic/gin"
	"github.com/go-chi/chi/v5"
	"github.com/labstack/echo/v5"

	"github.com/idmint/idmint/idtype"
)

type (
	user   struct{}
	number = idtype.EightByte[idtype.AsBigint[user]]
	text   = idtype.Sno[idtype.AsText[user]]
	uuid   = idtype.Sno[idtype.AsUUID[user]]
)

// A request holds what a handler binds: gin's tags are uri and form, those of echo param, query and
// form.
type request[T any] struct {
	ID    T   `uri:"id" form:"id" param:"id" query:"id"`
	Maybe *T  `form:"maybe" query:"maybe"`
	Many  []T `form:"many" query:"many"`
}

// A framework routes /users/:id. The handler binds a part of the request, and answers 400 with the
// error, or 204.
type framework struct {
	name  string
	serve func(part string, dst any) http.Handler
}

func byGin(part string, dst any) http.Handler {
	gin.SetMode(gin.ReleaseMode)
	engine := gin.New()
	engine.Any("/users/:id", func(c *gin.Context) {
		bind := map[string]func(any) error{
			"path": c.ShouldBindUri, "query": c.ShouldBindQuery, "form": c.ShouldBind,
		}[part]
		answer(c.Writer, bind(dst))
	})
	return engine
}

func byEcho(part string, dst any) http.Handler {
	e := echo.New()
	e.Any("/users/:id", func(c *echo.Context) error {
		bind := map[string]func(*echo.Context, any) error{
			"path": echo.BindPathValues, "query": echo.BindQueryParams, "form": echo.BindBody,
		}[part]
		answer(c.Response(), bind(c, dst))
		return nil
	})
	return e
}

// byChi parses by hand, because chi binds nothing.
func byChi[T idtype.ID](
	parse func(string) (T, error), part string, dst any,
) http.Handler {
	router := chi.NewRouter()
	router.HandleFunc("/users/{id}", func(w http.ResponseWriter, r *http.Request) {
		err := r.ParseForm()
		values := map[string]url.Values{
			"path": {"id": {chi.URLParam(r, "id")}}, "query": r.URL.Query(), "form": r.PostForm,
		}[part]
		got := dst.(*request[T])
		read := func(text string, set func(T)) {
			id, parseErr := parse(text)
			if err = cmp.Or(err, parseErr); err == nil {
				set(id)
			}
		}
		if values.Has("id") {
			read(values.Get("id"), func(id T) { got.ID = id })
		}
		if values.Has("maybe") {
			read(values.Get("maybe"), func(id T) { got.Maybe = &id })
		}
		for _, text := range values["many"] {
			read(text, func(id T) { got.Many = append(got.Many, id) })
		}
		answer(w, err)
	})
	return router
}

func answer(w http.ResponseWriter, err error) {
	var bad *idtype.InputError
	switch {
	case err == nil:
		w.WriteHeader(http.StatusNoContent)
	case errors.As(err, &bad):
		http.Error(w, bad.Error(), http.StatusBadRequest)
	default:
		http.Error(w, err.Error(), http.StatusInternalServerError)
	}
}

func TestBind(t *testing.T) {
	numbers := []string{"+1", "-5", "007", "0", "1e3", "0x10", "1.0", "9223372036854775808"}
	testBind(t, idtype.Parse[idtype.Decimal[user]], append(numbers, "+10000000001"), "10000000001", "20000000001")
	testBind(t, idtype.Parse[idtype.Sequence[user]], numbers, "1", "9223372036854775807")
	testBind(t, idtype.Parse[idtype.Trace[user]], numbers, "4646428214845635103", "1234567890123456789")
	// -5 is a short ID's text, because its letters include the hyphen.
	testBind(t, idtype.Parse[idtype.Short[user]], []string{"+1", "a.b", "x naS8QBh"}, "xinaS8QBh", "xinaS8QBi")
	bytes := []string{"+1", "-5", "007", "0", "5B9BDA2989E1989B", "0000000000000000"}
	testBind(t, idtype.Parse[idtype.EightByte[user]], bytes, "5b9bda2989e1989b", "5b9bda2989e1989c")
	testBind(t, idtype.Parse[number], bytes, "5b9bda2989e1989b", "5b9bda2989e1989c")
	snos := []string{"+1", "-5", "007", "0", "8FHMI7MFLS62JP64", "2222222222222222"}
	testBind(t, idtype.Parse[idtype.Sno[user]], snos, "8fhmi7mfls62jp64", "8fhmi7mfls62jp65")
	testBind(t, idtype.Parse[text], snos, "8fhmi7mfls62jp64", "8fhmi7mfls62jp65")
	testBind(t, idtype.Parse[uuid], snos, "8fhmi7mfls62jp64", "8fhmi7mfls62jp65")
}

// testBind binds two IDs as a value, by a pointer, and in a slice, and then each of bad, an ID with
// spaces around it, and an empty text, which no place may take.
func testBind[T idtype.ID](
	t *testing.T, parse func(string) (T, error), bad []string, one, two string,
) {
	first, err := parse(one)
	second, err2 := parse(two)
	if err != nil || err2 != nil {
		t.Fatal(err, err2)
	}
	chiOf := func(part string, dst any) http.Handler { return byChi(parse, part, dst) }
	for _, f := range []framework{
		{"gin", byGin}, {"echo", byEcho}, {"chi", chiOf},
	} {
		for _, part := range []string{"path", "query", "form"} {
			t.Run(fmt.Sprintf("%T/%s/%s", first, f.name, part), func(t *testing.T) {
				values := url.Values{"id": {one}, "maybe": {two}, "many": {one, two}}
				want := request[T]{ID: first, Maybe: &second, Many: []T{first, second}}
				if part == "path" {
					want = request[T]{ID: first}
				}
				var got request[T]
				if status, body := ask(t, f, part, values, &got); status != http.StatusNoContent ||
					!reflect.DeepEqual(got, want) {
					t.Errorf("%d %s %+v, want %+v", status, body, got, want)
				}
				for _, text := range append(bad, " "+one, one+" ", "") {
					for key, values := range map[string]url.Values{
						"id": {"id": {text}}, "maybe": {"maybe": {text}}, "many": {"many": {one, text}},
					} {
						if part == "path" && (key != "id" || text == "") {
							continue // a path holds one ID, and without it there is no such route
						}
						got := request[T]{ID: second}
						status, body := ask(t, f, part, values, &got)
						if status != http.StatusBadRequest || !strings.Contains(body, fmt.Sprintf("%q", text)) {
							t.Errorf("%s=%q: %d %s", key, text, status, body)
						}
						if got.ID != second {
							t.Errorf("%s=%q changed the ID to %v", key, text, got.ID)
						}
					}
				}
				got = request[T]{}
				if status, body := ask(t, f, part, url.Values{"id": {one}}, &got); status !=
					http.StatusNoContent || got.Maybe != nil || got.Many != nil {
					t.Errorf("without maybe and many: %d %s %+v", status, body, got)
				}
			})
		}
	}
}

// ask sends values in a part of a request. What is bound is in dst.
func ask(t *testing.T, f framework, part string, values url.Values, dst any) (int, string) {
	t.Helper()
	var r *http.Request
	switch part {
	case "path":
		r = httptest.NewRequest("GET", "/users/"+url.PathEscape(values.Get("id")), nil)
	case "query":
		r = httptest.NewRequest("GET", "/users/1?"+values.Encode(), nil)
	case "form":
		r = httptest.NewRequest("POST", "/users/1", strings.NewReader(values.Encode()))
		r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	}
	w := httptest.NewRecorder()
	f.serve(part, dst).ServeHTTP(w, r)
	return w.Code, w.Body.String()
}
