//go:build unix

package doctor

import (
	"fmt"
	"os"
	"syscall"
)

// fileNumber is the file's number on its file system.
func fileNumber(info os.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(stat.Ino)
	}
	return ""
}
