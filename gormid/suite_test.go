package gormid_test

import (
	"testing"

	"github.com/idmint/idmint/internal/gormsuite"
)

func TestSQLite(t *testing.T) { gormsuite.Run(t, gormsuite.InSQLite) }
