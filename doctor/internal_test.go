package doctor

import (
	"slices"
	"strings"
	"testing"

	"github.com/idmint/idmint/launchlog/checks"
)

// elsewhere are the stores whose modules make their checks, and the command that compares tables.
var elsewhere = []string{"etcd", "zookeeper", "cassandra", "audit"}

// Codes are listed once, each with its words, and each check that is made is listed.
func TestChecks(t *testing.T) {
	var codes []string
	for _, c := range checks.All() {
		if store, _, _ := strings.Cut(c.Code, "."); slices.Contains(elsewhere, store) {
			continue
		}
		if c.Code == "" || c.Looks == "" || c.Remedy == "" || slices.Contains(codes, c.Code) {
			t.Errorf("%+v", c)
		}
		codes = append(codes, c.Code)
	}
	made := []string{"open", "sqlite.file", "identity", "lost", "schema"}
	for _, c := range contentChecks {
		made = append(made, c.code)
	}
	for _, e := range engines {
		for _, c := range append(slices.Clone(e.server), e.content...) {
			made = append(made, c.Code)
		}
	}
	slices.Sort(codes)
	slices.Sort(made)
	if made = slices.Compact(made); !slices.Equal(made, codes) {
		t.Errorf("made: %v, listed: %v", made, codes)
	}
}

// Versions of servers that tests cannot start.
func TestOldMySQL(t *testing.T) {
	for text, want := range map[string]bool{
		"8.0.28": true, "8.0.29": false, "8.0.29-log": false, "5.7.44": true, "9.7.0": false,
		"10.5.29-MariaDB": true, "10.6.0-MariaDB": false, "11.8.6-MariaDB-0+deb13u1": false,
		"5.5.5-10.5.1-MariaDB": true, "5.5.5-10.11.1-MariaDB-log": false,
	} {
		if got, err := oldMySQL(text); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if _, err := oldMySQL("eight"); err == nil {
		t.Error("no error")
	}
}

// An account's name may have an @ in it.
func TestGrantee(t *testing.T) {
	for account, want := range map[string]string{
		"app@%": "'app'@'%'", "a@b@localhost": "'a@b'@'localhost'",
	} {
		if got := grantee(account); got != want {
			t.Errorf("%s: %s", account, got)
		}
	}
}
