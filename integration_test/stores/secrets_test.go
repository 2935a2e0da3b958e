package stores_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"regexp"
	"strings"
	"testing"

	"github.com/idmint/idmint/cmd/idmint/dsn"
	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/launchlog/cassandra"
	"github.com/idmint/idmint/launchlog/etcd"
	"github.com/idmint/idmint/launchlog/zookeeper"
	"github.com/idmint/idmint/publicid"
	"github.com/idmint/idmint/scramble"
	"github.com/idmint/idmint/viewer"
)

// address is one in memory, as fmt prints a pointer.
var address = regexp.MustCompile(`\b(0x)?[0-9a-f]{9,13}\b`)

// What has a secret prints the same with another one: by fmt, slog and JSON, by itself and in a field
// of a struct. So nothing of it comes into a log.
func TestSecrets(t *testing.T) {
	must := func(v any, err error) any {
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	all := func(digit string) map[string]any {
		password := "secret" + digit
		key, err := scramble.ParseKey(strings.Repeat(digit, 32))
		must(nil, err)
		public, err := publicid.ParseKey("0-" + strings.Repeat(digit, 64))
		must(nil, err)
		handler := must(viewer.New(nil, &viewer.Options{Auth: &viewer.Auth{User: "u", Password: password}}))
		return map[string]any{
			"scramble.Key":            key,
			"scramble.Network":        must(scramble.NewNetwork(scramble.Int63, key)),
			"scramble.Multiplicative": must(scramble.NewMultiplicative(scramble.Int63, key)),
			"publicid.Key":            public,
			"publicid, scrambled":     must(publicid.NewScrambled[idtype.Decimal[int]]("a", public)),
			"publicid, encrypted":     must(publicid.NewEncrypted[idtype.Decimal[int]]("a", public)),
			"viewer.Auth":             viewer.Auth{User: "u", Password: password},
			"viewer.Handler":          handler,
			"etcd.Config":             etcd.Config{User: "u", Password: password},
			"zookeeper.Config":        zookeeper.Config{User: "u", Password: password},
			"cassandra.Config":        cassandra.Config{User: "u", Password: password},
			"dsn.DSN":                 must(dsn.Parse("postgres://u:" + password + "@h/d")),
		}
	}
	prints := func(v any) string {
		var text strings.Builder
		opaque := struct{ V any }{v}
		for _, v := range []any{v, opaque, []any{v}} {
			fmt.Fprintf(&text, "%v %+v %#v %s %q %x", v, v, v, v, v, v)
			slog.New(slog.NewTextHandler(&text, nil)).Info("", "v", v)
			slog.New(slog.NewJSONHandler(&text, nil)).Info("", "v", v)
			written, _ := json.Marshal(v)
			text.Write(written)
		}
		return regexp.MustCompile(`"?time"?[=:]\S+"?,?`).ReplaceAllString(
			address.ReplaceAllString(text.String(), "ADDRESS"), "")
	}
	others := all("2")
	for name, v := range all("1") {
		if one, other := prints(v), prints(others[name]); one != other {
			t.Errorf("%s shows its secret:\n%s\n%s", name, one, other)
		}
	}
}
