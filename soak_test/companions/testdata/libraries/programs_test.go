package libraries

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"html/template"
	"log/slog"
	"math"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	sq "github.com/Masterminds/squirrel"
	"github.com/alicebob/miniredis/v2"
	"github.com/brianvoe/gofakeit/v7"
	"github.com/caarlos0/env/v11"
	"github.com/danielgtaylor/huma/v2"
	"github.com/danielgtaylor/huma/v2/adapters/humago"
	"github.com/doug-martin/goqu/v9"
	"github.com/go-playground/form/v4"
	"github.com/go-playground/validator/v10"
	"github.com/go-viper/mapstructure/v2"
	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
	"github.com/gorilla/schema"
	"github.com/huandu/go-sqlbuilder"
	"github.com/jinzhu/copier"
	"github.com/kelseyhightower/envconfig"
	"github.com/oapi-codegen/runtime"
	"github.com/redis/go-redis/v9"
	"github.com/rs/zerolog"
	"github.com/sirupsen/logrus"
	"github.com/spf13/pflag"
	"github.com/spf13/viper"
	"go.uber.org/zap"
	"go.uber.org/zap/zapcore"
	"google.golang.org/protobuf/encoding/protowire"
	"pgregory.net/rapid"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/publicid"
	"github.com/idmint/idmint/sqlid"
)

// texts are what a row is in forms, queries and the environment.
func texts(r row) map[string]string {
	all := map[string]string{}
	for name, v := range map[string]interface{ MarshalText() ([]byte, error) }{
		"user": r.User, "event": r.Event, "eight": r.Eight, "short": r.Short, "orzero": r.OrZero,
		"null": r.Null, "public": r.Public,
	} {
		all[name] = string(must(v.MarshalText()))
	}
	return all
}

func values(r row) url.Values {
	v := url.Values{}
	for name, text := range texts(r) {
		v.Set(name, text)
	}
	return v
}

func setEnv(t *testing.T, r row) {
	for name, text := range texts(r) {
		if name = strings.ToUpper(name); name == "USER" {
			name = "USER_KEY"
		}
		t.Setenv(name, text)
	}
}

func TestEnvironment(t *testing.T) {
	for name, read := range map[string]func(*row) error{
		"caarlos0/env":              func(r *row) error { return env.Parse(r) },
		"kelseyhightower/envconfig": func(r *row) error { return envconfig.Process("", r) },
	} {
		t.Run(name, func(t *testing.T) {
			is(t, name)
			for _, want := range []row{full(), sparse()} {
				setEnv(t, want)
				var got row
				if err := read(&got); err != nil || got != want {
					t.Errorf("%+v, %v", got, err)
				}
			}
			setEnv(t, full())
			t.Setenv("USER_KEY", "0")
			if err := read(new(row)); err == nil {
				t.Error("0 is an ID")
			}
		})
	}
}

func TestFlags(t *testing.T) {
	is(t, "pflag")
	set := pflag.NewFlagSet("", pflag.ContinueOnError)
	var got row
	set.TextVar(&got.User, "user", UserID(1), "")
	set.TextVar(&got.Null, "null", sqlid.Null[EventID]{}, "")
	err := set.Parse([]string{"--user", "14150009200065", "--null", sno})
	if err != nil || got.User != full().User || got.Null != full().Null {
		t.Error(got, err)
	}
	if set.Parse([]string{"--user", "+1"}) == nil {
		t.Error("+1 is an ID")
	}
}

func TestForms(t *testing.T) {
	t.Run("gorilla/schema", func(t *testing.T) {
		is(t, "gorilla/schema")
		d := schema.NewDecoder()
		for _, want := range []row{full(), sparse()} {
			var got row
			if err := d.Decode(&got, values(want)); err != nil || got != want {
				t.Errorf("%+v, %v", got, err)
			}
		}
		bad := values(full())
		bad.Set("user", "+1")
		if d.Decode(new(row), bad) == nil {
			t.Error("+1 is an ID")
		}
	})
	t.Run("go-playground/form", func(t *testing.T) {
		is(t, "go-playground/form")
		d, e := form.NewDecoder(), form.NewEncoder()
		registerForm[UserID](d, e)
		registerForm[EventID](d, e)
		registerForm[EightID](d, e)
		registerForm[ShortID](d, e)
		registerForm[idtype.OrZero[UserID]](d, e)
		registerForm[sqlid.Null[EventID]](d, e)
		registerForm[PublicID](d, e)
		for _, want := range []row{full(), sparse()} {
			form, err := e.Encode(want)
			var got row
			if err != nil || d.Decode(&got, form) != nil || got != want || form.Encode() != values(want).Encode() {
				t.Errorf("%v is %+v, %v", form, got, err)
			}
		}
		bad := values(full())
		bad.Set("user", "+1")
		if d.Decode(new(row), bad) == nil {
			t.Error("+1 is an ID")
		}
	})
	t.Run("oapi-codegen", func(t *testing.T) {
		is(t, "oapi-codegen")
		// With x-go-type: string, and Parse in the handler.
		var text string
		err := runtime.BindQueryParameter("form", true, true, "user", url.Values{"user": {short}}, &text)
		id, err2 := idtype.Parse[ShortID](text)
		if err != nil || err2 != nil || id != full().Short {
			t.Error(id, err, err2)
		}
	})
}

func TestConfigurations(t *testing.T) {
	hook := viper.DecodeHook(mapstructure.ComposeDecodeHookFunc(
		idtype.DecodeHook,
		mapstructure.StringToTimeDurationHookFunc(), mapstructure.StringToWeakSliceHookFunc(","),
	))
	t.Run("viper", func(t *testing.T) {
		is(t, "viper")
		load := func(yaml string) (row, error) {
			v := viper.New()
			v.SetConfigType("yaml")
			if err := v.ReadConfig(strings.NewReader(yaml)); err != nil {
				t.Fatal(err)
			}
			var r row
			err := v.Unmarshal(&r, hook)
			return r, err
		}
		for _, want := range []row{full(), sparse()} {
			yaml := ""
			for name, text := range texts(want) {
				yaml += fmt.Sprintf("%q: %q\n", name, text)
			}
			if got, err := load(yaml); err != nil || got != want {
				t.Errorf("%s is %+v, %v", yaml, got, err)
			}
		}
		for _, bad := range []string{
			"user: ''", "user: '0x10'", "user: 010", "user: 18446744073709551615", "user: true", "user: 1.5",
			"user: 7", "eight: 1234567890123456", "\"null\": 7",
		} {
			if got, err := load(bad); err == nil {
				t.Errorf("%s is %+v", bad, got)
			}
		}
		v := viper.New()
		v.Set("wait", "5s")
		v.Set("hosts", "a,b")
		v.Set("users", "7,8")
		type others struct {
			Wait  time.Duration
			Hosts []string
			Users []UserID
		}
		var got others
		want := others{5 * time.Second, []string{"a", "b"}, []UserID{7, 8}}
		if err := v.Unmarshal(&got, hook); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%+v, %v", got, err)
		}
	})
	t.Run("mapstructure", func(t *testing.T) {
		is(t, "mapstructure")
		in := map[string]any{}
		for name, text := range texts(full()) {
			in[name] = text
		}
		var got row
		d := must(mapstructure.NewDecoder(&mapstructure.DecoderConfig{
			DecodeHook: mapstructure.DecodeHookFuncType(idtype.DecodeHook), Result: &got,
		}))
		if err := d.Decode(in); err != nil || got != full() {
			t.Error(got, err)
		}
	})
}

func TestHuma(t *testing.T) {
	is(t, "huma")
	mux := http.NewServeMux()
	api := humago.New(mux, huma.DefaultConfig("shop", "1"))
	type input struct {
		ID   Param[UserID] `path:"id"`
		Boss Param[UserID] `query:"boss"`
		Body struct {
			Event Param[EventID] `json:"event"`
		}
	}
	type output struct {
		Body struct {
			ID    Param[UserID]  `json:"id"`
			Boss  Param[UserID]  `json:"boss"`
			Event Param[EventID] `json:"event"`
		}
	}
	huma.Post(api, "/users/{id}", func(_ context.Context, in *input) (*output, error) {
		out := new(output)
		out.Body.ID, out.Body.Boss, out.Body.Event = in.ID, in.Boss, in.Body.Event
		return out, nil
	})
	post := func(path, body string) (int, string) {
		w := httptest.NewRecorder()
		r := httptest.NewRequest("POST", path, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		mux.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	code, body := post("/users/14150009200065?boss=57", `{"event":"`+sno+`"}`)
	for _, want := range []string{`"id":"14150009200065"`, `"boss":"57"`, `"event":"` + sno + `"`} {
		if code != 200 || !strings.Contains(body, want) {
			t.Error(code, body)
		}
	}
	for path, body := range map[string]string{
		"/users/+1?boss=57": `{"event":"` + sno + `"}`, "/users/57?boss=0": `{"event":"` + sno + `"}`,
		"/users/57?boss=58": `{"event":"x"}`, "/users/57?boss=59": `{"event":7}`,
	} {
		if code, answer := post(path, body); code != 400 && code != 422 {
			t.Error(path, body, code, answer)
		}
	}
}

func TestValidator(t *testing.T) {
	is(t, "validator")
	v := validator.New(validator.WithRequiredStructEnabled())
	type request struct {
		User   UserID                `validate:"validateFn"`
		Event  EventID               `validate:"validateFn"`
		Boss   sqlid.Null[UserID]    `validate:"required"`
		Parent idtype.OrZero[UserID] `validate:"required"`
	}
	ok := request{full().User, full().Event, sqlid.NullOf(UserID(57)), idtype.OrZero[UserID]{ID: 57}}
	if err := v.Struct(ok); err != nil {
		t.Error(err)
	}
	for i := range 4 {
		bad := ok
		switch i {
		case 0:
			bad.User = 0
		case 1:
			bad.Event = EventID{}
		case 2:
			bad.Boss = sqlid.Null[UserID]{}
		case 3:
			bad.Parent = idtype.OrZero[UserID]{}
		}
		if v.Struct(bad) == nil {
			t.Errorf("%d: %+v is valid", i, bad)
		}
	}
	// A publicid.ID shows validator no field. Its zero is found by its IsZero.
	type public struct {
		ID PublicID `validate:"required"`
	}
	if err := v.Struct(public{}); err == nil {
		t.Error("a zero publicid.ID is there")
	}
	if err := v.Struct(public{full().Public}); err != nil {
		t.Error(err)
	}
}

func TestRedis(t *testing.T) {
	is(t, "go-redis")
	server := miniredis.RunT(t)
	ctx, c := t.Context(), redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer c.Close()
	id := full().User
	if err := c.HSet(ctx, "user", "id", id.String()).Err(); err != nil {
		t.Fatal(err)
	}
	back, err := idtype.Parse[UserID](must(c.HGet(ctx, "user", "id").Result()))
	if err != nil || back != id {
		t.Error(back, err)
	}
	// An ID itself is its bytes, and comes back by Scan alone.
	if err := c.Set(ctx, "raw", id, 0).Err(); err != nil {
		t.Fatal(err)
	}
	var scanned UserID
	if err := c.Get(ctx, "raw").Scan(&scanned); err != nil || scanned != id {
		t.Error(scanned, err)
	}
	type hash struct {
		ID UserID `redis:"id"`
	}
	var read hash
	if err := c.HGetAll(ctx, "user").Scan(&read); err != nil || read.ID != id {
		t.Error(read, err)
	}
	if err := c.HSet(ctx, "bytes", hash{id}).Err(); err != nil {
		t.Error(err)
	}
	if err := c.HGetAll(ctx, "bytes").Scan(&read); err == nil {
		t.Error("bytes are read as a text")
	}
	public := full().Public
	if err := c.Set(ctx, "public", public, 0).Err(); err != nil || c.Get(ctx, "public").Val() != public.String() {
		t.Error(c.Get(ctx, "public"), err)
	}
	if err := c.Set(ctx, "zero", UserID(0), 0).Err(); err == nil {
		t.Error("zero is stored")
	}
}

func TestQueryBuilders(t *testing.T) {
	id, event := full().User, full().Event
	t.Run("goqu", func(t *testing.T) {
		is(t, "goqu")
		query, args, err := goqu.From("events").Where(goqu.C("id").Eq(event)).Prepared(true).ToSQL()
		raw, ok := args[0].([]byte)
		if err != nil || !ok || string(raw) != string(event[:]) || strings.Contains(query, "3_") {
			t.Error(query, args, err)
		}
		if _, _, err := goqu.From("t").Where(goqu.C("id").Eq(UserID(0))).Prepared(true).ToSQL(); err == nil {
			t.Error("zero is a parameter")
		}
		literal, _, err := goqu.From("users").Where(goqu.C("id").Eq(id)).ToSQL()
		if err != nil || !strings.Contains(literal, "14150009200065") {
			t.Error(literal, err)
		}
	})
	t.Run("squirrel", func(t *testing.T) {
		is(t, "squirrel")
		_, args, err := sq.Select("*").From("t").Where(sq.Eq{"id": []UserID{id, 57}, "e": event}).ToSql()
		if err != nil || len(args) != 3 {
			t.Error(args, err)
		}
	})
	t.Run("go-sqlbuilder", func(t *testing.T) {
		is(t, "go-sqlbuilder")
		b := sqlbuilder.Select("*").From("t")
		list := []any{event, event} // sqlbuilder.List(events) would be their bytes
		_, args := b.Where(b.In("id", list...), b.Equal("u", id)).Build()
		if len(args) != 3 || args[0] != any(event) {
			t.Error(args)
		}
	})
}

// A nil pointer to an ID panics where one to a google/uuid.UUID does, and nowhere else.
func TestNilPointers(t *testing.T) {
	panics := func(f func()) (panicked bool) {
		defer func() { panicked = recover() != nil }()
		f()
		return false
	}
	server := miniredis.RunT(t)
	c := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer c.Close()
	var id *UserID
	var theirs *uuid.UUID
	logger := zerolog.New(&bytes.Buffer{})
	for name, f := range map[string]func(v any){
		"squirrel": func(v any) { sq.Select("*").From("t").Where(sq.Eq{"id": v}).ToSql() },
		"go-redis": func(v any) { c.Set(t.Context(), "k", v, 0) },
		"zerolog":  func(v any) { logger.Info().Stringer("id", v.(fmt.Stringer)).Send() },
		"fmt":      func(v any) { _ = fmt.Sprintf("%v %s", v, v) },
		"slog":     func(v any) { slog.New(slog.NewTextHandler(&bytes.Buffer{}, nil)).Info("", "id", v) },
		"zap":      func(v any) { zap.New(zapcore.NewNopCore()).Info("", zap.Any("id", v)) },
		"goqu":     func(v any) { goqu.From("t").Where(goqu.C("id").Eq(v)).Prepared(true).ToSQL() },
	} {
		ours, others := panics(func() { f(id) }), panics(func() { f(theirs) })
		t.Logf("%s: %v, google/uuid %v", name, ours, others)
		if ours && !others {
			t.Errorf("%s panics, and not for google/uuid", name)
		}
	}
}

func TestLogs(t *testing.T) {
	r := full()
	logged := func(t *testing.T, name, text string) {
		is(t, name)
		for _, want := range []string{"14150009200065", sno, r.Public.String()} {
			if !strings.Contains(text, want) {
				t.Errorf("%s lacks %s", text, want)
			}
		}
		for _, bad := range []string{"{{", "map[", "true}"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s shows a struct", text)
			}
		}
	}
	var out bytes.Buffer
	text := func() string { defer out.Reset(); return out.String() }
	t.Run("slog", func(t *testing.T) {
		slog.New(slog.NewTextHandler(&out, nil)).Info("", "a", r.User, "b", r.Null, "c", r.Public)
		logged(t, "slog", text())
		slog.New(slog.NewJSONHandler(&out, nil)).Info("", "a", r.User, "b", r.Null, "c", r.Public)
		logged(t, "slog", text())
	})
	t.Run("zap", func(t *testing.T) {
		core := zapcore.NewCore(zapcore.NewJSONEncoder(zapcore.EncoderConfig{}), zapcore.AddSync(&out), zap.InfoLevel)
		zap.New(core).Info("", zap.Any("a", r.User), zap.Any("b", r.Null), zap.Any("c", r.Public))
		logged(t, "zap", text())
	})
	t.Run("zerolog", func(t *testing.T) {
		l := zerolog.New(&out)
		l.Info().Any("a", r.User).Any("b", r.Null).Stringer("c", r.Public).Send()
		logged(t, "zerolog", text())
	})
	t.Run("logrus", func(t *testing.T) {
		l := logrus.New()
		l.Out = &out
		l.WithFields(logrus.Fields{"a": r.User, "b": r.Null, "c": r.Public}).Info()
		logged(t, "logrus", text())
	})
	t.Run("html/template", func(t *testing.T) {
		tmpl := template.Must(template.New("").Parse(`{{.User}} <script>x = {{.Null}}</script> <a href="/{{.Public}}">`))
		if err := tmpl.Execute(&out, r); err != nil {
			t.Fatal(err)
		}
		logged(t, "html/template", text())
	})
	t.Run("go-cmp", func(t *testing.T) {
		is(t, "go-cmp")
		a, b := full(), full()
		b.Public = publicid.Of[inUsers](UserID(decimal))
		diff := cmp.Diff(a, b)
		if strings.Contains(diff, "14150009200065") || !strings.Contains(diff, b.Public.String()) ||
			!strings.Contains(diff, a.Public.String()) {
			t.Error(diff)
		}
		if diff := cmp.Diff(a, full()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestCopier(t *testing.T) {
	is(t, "copier")
	type view struct {
		User, Event, Null string
	}
	var v view
	err := copier.CopyWithOption(&v, full(), copier.Option{Converters: []copier.TypeConverter{
		toText[UserID](), toText[EventID](), toText[sqlid.Null[EventID]](),
	}})
	if err != nil || v != (view{"14150009200065", sno, sno}) {
		t.Error(v, err)
	}
	var back row
	err = copier.CopyWithOption(&back, v, copier.Option{Converters: []copier.TypeConverter{
		fromText[UserID](), fromText[EventID](), fromText[sqlid.Null[EventID]](),
	}})
	if err != nil || back.User != full().User || back.Event != full().Event || back.Null != full().Null {
		t.Error(back, err)
	}
}

func TestGenerators(t *testing.T) {
	t.Run("rapid", rapid.MakeCheck(func(r *rapid.T) {
		is(t, "rapid")
		ids := rapid.Map(rapid.Int64Range(1, math.MaxInt64), func(n int64) UserID { return UserID(n) })
		id := ids.Draw(r, "id")
		if _, err := idtype.FromInt64[UserID](int64(id)); err != nil {
			r.Fatal(err)
		}
	}))
	t.Run("gofakeit", func(t *testing.T) {
		is(t, "gofakeit")
		f := gofakeit.New(1)
		for range 100 {
			parts := idtype.DecimalParts{Counter: f.Number(1, 1e6), Generator: f.Number(0, 99999), Launch: 1}
			if id, err := parts.ID(); err != nil || id.Validate() != nil {
				t.Error(id, err)
			}
		}
	})
}

// The fields of a message as it goes over the wire: int64 for an ID, which is absent where it is 0.
func TestProtobuf(t *testing.T) {
	is(t, "protobuf")
	id := full().User
	wire := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), uint64(id))
	_, _, n := protowire.ConsumeTag(wire)
	v, _ := protowire.ConsumeVarint(wire[n:])
	back, err := idtype.FromInt64[UserID](int64(v))
	if err != nil || back != id {
		t.Error(back, err)
	}
	var absent int64
	if _, err := idtype.FromInt64[UserID](absent); !errors.Is(err, idtype.ErrZero) {
		t.Error(err)
	}
	event, err := idtype.FromBytes[EventID](idtype.AppendBytes(nil, full().Event))
	if err != nil || event != full().Event {
		t.Error(event, err)
	}
	if _, err := idtype.FromBytes[EventID](nil); !isInput(err) {
		t.Error(err)
	}
}

func init() { os.Unsetenv("USER_KEY") }
