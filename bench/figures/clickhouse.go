package main

import (
	"fmt"
	"strings"

	"github.com/idmint/idmint/cmd/idmint/measure"
)

// least is the size of an ID among those that are compared, in its best form, or false.
func (s *source) least(scheme string, sorted bool, generators int) (float64, bool) {
	least, found := 0.0, false
	for _, c := range s.Smallest(sorted, generators) {
		if c.Scheme == scheme && (!found || c.BytesPerID < least) {
			least, found = c.BytesPerID, true
		}
	}
	return least, found
}

// counted is the size of the numbers that serial gives, in the best codec. They are those of a
// sequence's only generator, whoever stores them.
func (s *source) counted(sorted bool) (float64, bool) {
	least, found := 0.0, false
	for _, c := range s.Compression {
		if c.Scheme == sequence.scheme && c.Generators == 1 && c.Sorted() == sorted &&
			(!found || c.BytesPerID < least) {
			least, found = c.BytesPerID, true
		}
	}
	return least, found
}

// What stands in ClickHouse for keys that a SQL database gives.
var (
	sequence     = key{"sequence", "sequence", "bigint"}
	clickHouseV7 = key{"`generateUUIDv7()`", measure.ClickHouseV7, "uuid"}
)

// clickHouseKeys are those that are stored in ClickHouse.
var clickHouseKeys = func() []key {
	all := []key{sequence}
	for _, k := range keys {
		switch k {
		case serial: // see sequence
		case serverV7:
			all = append(all, clickHouseV7)
		default:
			all = append(all, k)
		}
	}
	return all
}()

func clickHouseTable(s *source) (string, error) {
	text := head("", "by ID: 1", "4", "64", "by arrival: 1", "4", "64")
	for _, k := range clickHouseKeys {
		text += "| " + k.label + " |"
		some := false
		for _, sorted := range []bool{true, false} {
			for _, generators := range measure.Generators() {
				size, ok := s.least(k.scheme, sorted, generators)
				if ok {
					text += " " + bytesPerID(size)
				}
				text += " |"
				some = some || ok
			}
		}
		if !some {
			return "", fmt.Errorf("docs/report.json has no size of %s in ClickHouse", k.label)
		}
		text += "\n"
	}
	return text, nil
}

// skippingTable is what ClickHouse reads for a second.
func skippingTable(s *source) (string, error) {
	text := head("", "rows of the second", "by the key: granules read", "by a minmax index")
	shown := map[string]int{}
	for _, k := range s.Skipping {
		name := k.Scheme + ", " + k.Column
		if k.All == 0 || shown[name] > 1 {
			continue
		}
		if shown[name]++; shown[name] == 1 {
			text += fmt.Sprintf("| %s | %d of %d | %d of %d |", name, k.Found, k.Rows, k.Granules, k.All)
			continue
		}
		text += fmt.Sprintf(" %d of %d |\n", k.Granules, k.All)
	}
	if len(shown) == 0 {
		return "", fmt.Errorf("docs/report.json has no span of time in ClickHouse")
	}
	return text, nil
}

// sizesTable is a choice of the other tables of sizes, for README.
func sizesTable(s *source) (string, error) {
	some := []key{serial, decimal, snowflake, uuidv7}
	text := head("", "bigserial", "decimal", "snowflake", "UUIDv7")
	rows := []string{
		"| value |", "| PostgreSQL 18: index |", "| PostgreSQL 18: WAL |", "| MariaDB: leaf pages |",
		"| ClickHouse, ordered by key |", "| ClickHouse, by arrival |",
		"| the same, 64 generators |",
	}
	for _, k := range some {
		postgres, err := s.footprint(newest, k, usual)
		if err != nil {
			return "", err
		}
		mariadb, err := s.footprint("MariaDB", k, usual)
		if err != nil {
			return "", err
		}
		rows[0] += fmt.Sprintf(" %d |", map[bool]int{true: 16, false: 8}[k.storage == "uuid"])
		rows[1] += fmt.Sprintf(" %.1f |", perRow(postgres.KeyBytes, postgres.Rows))
		rows[2] += fmt.Sprintf(" %.0f |", perRow(postgres.LogBytes, postgres.Rows))
		rows[3] += fmt.Sprintf(" %.1f |", perRow(mariadb.KeyBytes, mariadb.Rows))
		for i, c := range []struct {
			sorted     bool
			generators int
		}{{true, writers}, {false, writers}, {false, 64}} {
			size, ok := s.least(k.scheme, c.sorted, c.generators)
			switch k {
			case serial:
				size, ok = s.counted(c.sorted)
			case uuidv7: // its best form
				size, ok = s.least(clickHouseV7.scheme, c.sorted, c.generators)
			}
			if !ok {
				return "", fmt.Errorf("docs/report.json has no size of %s in ClickHouse", k.label)
			}
			rows[4+i] += " " + bytesPerID(size) + " |"
		}
	}
	return text + strings.Join(rows, "\n") + "\n", nil
}
