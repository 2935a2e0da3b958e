package storesuite

// Attacks are scripts that take the files of a SQLite log away under whoever has them open. $1 is
// the log, $2 a backup of it. Programs of their own run them: a process that opens and closes one
// of the files drops its own locks on it.
var Attacks = map[string]string{
	"the log removed":           `rm "$1-wal"`,
	"the index removed":         `rm "$1-shm"`,
	"both removed":              `rm "$1-wal" "$1-shm"`,
	"copied over, both removed": `cp "$2" "$1" && rm "$1-wal" "$1-shm"`,
	"replaced, both left":       `mv "$2" "$1"`,
	"replaced, both removed":    `mv "$2" "$1" && rm "$1-wal" "$1-shm"`,
	"all moved aside": `for f in "$1" "$1-wal" "$1-shm"; do mv "$f" "$f.old"; done
		mv "$2" "$1"`,
	"both replaced by their own": `for f in "$1-wal" "$1-shm"; do
		cp "$f" "$f.new" && mv "$f.new" "$f"
	done`,
}
