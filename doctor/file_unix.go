//go:build unix

package doctor

import (
	"fmt"
	"os"
	"syscall"
)

// fileNumber returns the file's inode number.
func fileNumber(info os.FileInfo) string {
	if stat, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprint(stat.Ino)
	}
	return ""
}
