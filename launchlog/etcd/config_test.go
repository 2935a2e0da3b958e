package etcd

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/internal/storesuite"
)

func TestConfig(t *testing.T) {
	good := []string{"a:1"}
	for _, test := range []struct {
		config       Config
		field, value string
	}{
		{Config{}, "Endpoints", ""},
		{Config{Endpoints: []string{"a:1", ""}}, "Endpoints", ""},
		{Config{Endpoints: []string{"http://a:1"}}, "Endpoints", "http://a:1"},
		{Config{Endpoints: []string{"a:1,b:1"}}, "Endpoints", "a:1,b:1"},
		{Config{Endpoints: []string{":1"}}, "Endpoints", ":1"},
		{Config{Endpoints: []string{"u:geheim@a:1"}}, "Endpoints", "u:xxxxx@a:1"},
		{Config{Endpoints: good, Prefix: "idmint"}, "Prefix", "idmint"},
		{Config{Endpoints: good, Prefix: "/"}, "Prefix", "/"},
		{Config{Endpoints: good, Prefix: "/a//b"}, "Prefix", "/a//b"},
		{Config{Endpoints: good, Prefix: "/a/"}, "Prefix", "/a/"},
		{Config{Endpoints: good, Prefix: "/é"}, "Prefix", "/é"},
		{Config{Endpoints: good, Password: "geheim"}, "User", ""},
		{Config{Endpoints: good, User: "u"}, "Password", ""},
	} {
		_, opening := Open(ctx, test.config)
		_, _, migrating := Migrate(ctx, test.config)
		for _, err := range []error{opening, migrating} {
			var wrong *ConfigError
			if !errors.As(err, &wrong) || wrong.Field != test.field || wrong.Value != test.value {
				t.Errorf("%+v: %v", test.config, err)
				continue
			}
			storesuite.BeginsWith(t, err, "launchlog/etcd: ")
			if strings.Contains(err.Error(), "geheim") {
				t.Errorf("a password is in %q", err)
			}
		}
	}
	c, err := Config{Endpoints: []string{"a", "b:1", "::1", "[::1]", "[::1]:7"}}.Checked()
	want := []string{"a:2379", "b:1", "[::1]:2379", "[::1]:2379", "[::1]:7"}
	if err != nil || c.Prefix != "/idmint" || !slices.Equal(c.Endpoints, want) {
		t.Errorf("%+v, %v", c, err)
	}
}
