package consumer

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// A compiler of Go crashes on a struct that points to its own key by its alias. docs/versions.md
// has a way round. The oldest Go of the library compiles that, and so does this one.
func TestRecursiveKeys(t *testing.T) {
	dir := scratch(t, []string{"github.com/idmint/idmint/idtype"})
	oldest := strings.TrimSpace(tool(t, "../..", "list", "-m", "-f", "{{.GoVersion}}"))
	tool(t, dir, "mod", "edit", "-go", oldest)
	write(t, filepath.Join(dir, "main.go"), `package main

import (
	"database/sql"

	"github.com/idmint/idmint/idtype"
)

type Order struct {
	UserID UserID
	User   User
}

type UserID = idtype.Decimal[User]

type User struct {
	ID      UserID
	BossID  *idtype.Decimal[User]
	Former  sql.Null[idtype.Decimal[User]]
	Friends idtype.Slice[idtype.Decimal[User]]
	Orders  []*Order
}

func main() {
	id := UserID(1)
	_ = Order{User: User{BossID: &id}}
}
`)
	for _, toolchain := range []string{"local", "go" + oldest} {
		ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
		defer cancel()
		asked := exec.CommandContext(ctx, "go", "version")
		asked.Env = append(os.Environ(), "GOTOOLCHAIN="+toolchain)
		if err := asked.Run(); err != nil {
			t.Logf("%s cannot be had: %v", toolchain, err)
			continue
		}
		cmd := exec.Command("go", "build", "-o", os.DevNull, ".")
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOWORK=off", "GOFLAGS=", "GOTOOLCHAIN="+toolchain)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", toolchain, err, out)
		}
	}
}
