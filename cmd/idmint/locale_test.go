package main

import (
	"strings"
	"testing"
)

// Without UTF-8 no answer holds another sign than those of ASCII, and with it drawings have lines.
func TestASCII(t *testing.T) {
	s := inside(t)
	s.must("migrate", "--db", "sqlite:app.db")
	plain := *s
	for _, c := range []struct {
		env   string
		ascii bool
	}{
		{"LC_ALL=C", true},
		{"LC_ALL=POSIX", true},
		{"LC_ALL= LC_CTYPE= LANG=", true},
		{"LC_ALL=de_DE.ISO-8859-1 LANG=C.UTF-8", true},
		{"LC_ALL= LC_CTYPE=C LANG=de_DE.UTF-8", true},
		{"LC_ALL=C.UTF-8 LANG=C", false},
		{"LC_ALL= LC_CTYPE= LANG=de_DE.utf8", false},
	} {
		plain.env = append(s.env[:len(s.env):len(s.env)], strings.Fields(c.env)...)
		for _, args := range []string{
			"inspect --scheme decimal 14150009200065", "inspect --scheme eightbyte 5b9bda2989e1989b",
			"--help", "launch list --db none", "help advance",
		} {
			got := plain.run(strings.Fields(args)...)
			text := got.stdout + got.stderr
			ascii := strings.IndexFunc(text, func(r rune) bool { return r > '~' }) < 0
			if text == "" || ascii != c.ascii {
				t.Errorf("%s idmint %s: %s", c.env, args, text)
			}
		}
	}
	plain.env = append(s.env[:len(s.env):len(s.env)], "LC_ALL=C")
	const want = `               ID 14150009200065
                  ccccggggglllll
                   ^    ^    ^
   counter (1415) -+    |    |
generator_id (92) ------+    |
   launch_id (65) -----------+
`
	if got := plain.must("inspect", "--scheme", "decimal", "14150009200065"); got != want {
		t.Errorf("%s", got)
	}
}
