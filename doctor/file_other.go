//go:build !unix

package doctor

import "os"

// fileNumber is "": the system numbers no files as Unix does.
func fileNumber(os.FileInfo) string { return "" }
