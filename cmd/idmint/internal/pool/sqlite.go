//go:build cgo

package pool

import _ "github.com/mattn/go-sqlite3" // driver
