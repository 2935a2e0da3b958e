//go:build !unix

package doctor

import "os"

// fileNumber returns "", because the system does not number files as Unix does.
func fileNumber(os.FileInfo) string { return "" }
