//go:build cgo

package dsn

import "github.com/ClickHouse/clickhouse-go/v2"

func tryClickHouse(source string) error {
	_, err := clickhouse.ParseDSN(source)
	return err
}
