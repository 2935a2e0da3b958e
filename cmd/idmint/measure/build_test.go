package measure

import "testing"

// What a server says of itself is its version, and who built it.
func TestBuild(t *testing.T) {
	for _, c := range []struct {
		split                func(string) (string, string)
		says, version, build string
	}{
		{
			splitPostgres, "PostgreSQL 17.12 (Debian 17.12-0+deb13u1) on x86_64-pc-linux-gnu, " +
				"compiled by gcc (Debian 14.2.0-19) 14.2.0, 64-bit",
			"PostgreSQL 17.12", "Debian 17.12-0+deb13u1",
		},
		{
			splitPostgres, "PostgreSQL 18.4 on x86_64-pc-linux-gnu, compiled by gcc (Ubuntu " +
				"7.5.0-3ubuntu1~18.04) 7.5.0, 64-bit",
			"PostgreSQL 18.4", "compiled by gcc (Ubuntu 7.5.0-3ubuntu1~18.04) 7.5.0",
		},
		{splitPostgres, "PostgreSQL 19", "PostgreSQL 19", ""},
		{splitMariaDB, "11.8.9-MariaDB-0+deb13u1 from Debian", "11.8.9", "0+deb13u1 from Debian"},
		{splitMariaDB, "11.8.9-MariaDB", "11.8.9", ""},
	} {
		if version, build := c.split(c.says); version != c.version || build != c.build {
			t.Errorf("%q is %q of %q", c.says, version, build)
		}
	}
}
