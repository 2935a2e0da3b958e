package site_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/idmint/idmint/migrations"
)

// docs/versions.md names the version of the tables and the servers that tests run on.
func TestVersions(t *testing.T) {
	t.Parallel()
	page := read(t, "docs/versions.md")
	want := []string{fmt.Sprintf("raise: it is %d.", migrations.Latest(migrations.SQLite))}
	title := map[string]string{
		"postgres": "PostgreSQL", "mariadb": "MariaDB",
		"clickhouse/clickhouse-server": "ClickHouse", "quay.io/coreos/etcd": "etcd",
		"zookeeper": "ZooKeeper", "cassandra": "Cassandra",
	}
	images := regexp.MustCompile(
		`images\+=\(([\w./-]+):v?(\d+(?:\.\d+)?)[\d.]*\)`).FindAllStringSubmatch(read(t, "scripts/databases"), -1)
	if len(images) != len(title)+1 { // PostgreSQL is there twice
		t.Fatalf("scripts/databases has %d images, want %d", len(images), len(title)+1)
	}
	for _, image := range images {
		want = append(want, fmt.Sprintf("| %s %s |", title[image[1]], image[2]))
	}
	for _, w := range want {
		if !strings.Contains(strings.Join(strings.Fields(page), " "), w) {
			t.Errorf("docs/versions.md lacks %q", w)
		}
	}
}
