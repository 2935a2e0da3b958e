package zookeeper

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/idmint/idmint/launchlog"
	"github.com/idmint/idmint/launchlog/storetest"
)

func TestConfig(t *testing.T) {
	good := []string{"a"}
	for _, test := range []struct {
		field, value string
		config       Config
	}{
		{"Servers", "", Config{}},
		{"Servers", "u:xxxxx@a:1", Config{Servers: []string{"a", "u:secret@a:1"}}},
		{"Path", "/a/", Config{Servers: good, Path: "/a/"}},
		{"Path", "/zookeeper/a", Config{Servers: good, Path: "/zookeeper/a"}},
		{"User", "a:xxxxx", Config{Servers: good, User: "a:secret", Password: "secret"}},
		{"User", "", Config{Servers: good, Password: "secret"}},
		{"SessionTimeout", "999ms", Config{Servers: good, SessionTimeout: 999 * time.Millisecond}},
		{"SessionTimeout", "5m1s", Config{Servers: good, SessionTimeout: 301 * time.Second}},
	} {
		_, opening := Open(t.Context(), test.config)
		_, _, migrating := Migrate(t.Context(), test.config)
		for _, err := range []error{opening, migrating} {
			var bad *launchlog.RequestError
			if !errors.As(err, &bad) || bad.Field != test.field || bad.Value != test.value ||
				strings.Contains(err.Error(), "secret") {
				t.Errorf("%s %q: %v", test.field, test.value, err)
			}
			storetest.BeginsWith(t, err, "launchlog/zookeeper: ")
		}
	}
	c, err := Config{Servers: []string{"a", "b:1"}}.Checked()
	if err != nil || strings.Join(c.Servers, " ") != "a:2181 b:1" || c.Path != "/idmint" ||
		c.SessionTimeout != 4*time.Second {
		t.Errorf("%+v, %v", c, err)
	}
}

// A user's znodes are for that user.
func TestUser(t *testing.T) {
	c := Config{
		Servers: servers(t), Path: "/idmint-test-" + rand.Text()[:10], User: "me",
		Password: "se:cret",
	}
	if _, _, err := Migrate(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	s := opened(t, c)
	if _, err := s.LastNumber(t.Context(), launchlog.CounterRef{
		Namespace: "default", Name: "a",
	}); err != nil {
		t.Error(err)
	}
	wrong, nobody := c, c
	wrong.Password = "secret"
	nobody.User, nobody.Password = "", ""
	for _, other := range []Config{wrong, nobody} {
		if _, err := Open(t.Context(), other); !errors.Is(err, zk.ErrNoAuth) ||
			strings.Contains(err.Error(), "cret") {
			t.Errorf("open as %q: %v", other.User, err)
		}
		if _, _, err := Migrate(t.Context(), other); !errors.Is(err, zk.ErrNoAuth) {
			t.Errorf("migrate as %q: %v", other.User, err)
		}
	}
	if err := removeAll(context.Background(), c); err != nil {
		t.Error(err)
	}
}

func TestStoreShowsNoPassword(t *testing.T) {
	const password = "secret"
	c := place(t)
	own := c
	own.Path, own.User, own.Password = c.Path+"-own", "u", password
	t.Cleanup(func() {
		if err := removeAll(context.Background(), own); err != nil {
			t.Error(err)
		}
	})
	if _, _, err := Migrate(t.Context(), own); err != nil {
		t.Fatal(err)
	}
	s := opened(t, own)
	text := fmt.Sprintf("%+v %#v", s, s)
	digest := zk.DigestACL(zk.PermAll, own.User, password)[0].ID
	if strings.Contains(text, password) || strings.Contains(text, digest) {
		t.Error(text)
	}
}
