package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// networkFileSystems are those of statfs(2) whose locks SQLite cannot rely on.
var networkFileSystems = map[int64]string{
	unix.NFS_SUPER_MAGIC:  "NFS",
	unix.SMB_SUPER_MAGIC:  "SMB",
	unix.SMB2_SUPER_MAGIC: "SMB",
	unix.CIFS_SUPER_MAGIC: "SMB",
	unix.CEPH_SUPER_MAGIC: "CephFS",
	unix.AFS_SUPER_MAGIC:  "AFS",
	unix.CODA_SUPER_MAGIC: "Coda",
	unix.V9FS_MAGIC:       "9P",
	0x0bd00bd0:            "Lustre",
	0x01161970:            "GFS2",
	0x7461636f:            "OCFS2",
	0x786f4256:            "a shared folder of VirtualBox",
}

var statfs = unix.Statfs // replaced in a test

// checkSystem checks the file system of a path without symbolic links. A file that it cannot look
// at is reported when it is opened.
func checkSystem(path string) error {
	var fs unix.Statfs_t
	for _, p := range []string{path, filepath.Dir(path)} {
		if statfs(p, &fs) == nil && networkFileSystems[int64(fs.Type)] != "" {
			return &FileError{
				path, "is on a network file system (" + networkFileSystems[int64(fs.Type)] +
					"), where SQLite's locks do not hold: use a local one, or a database server",
			}
		}
	}
	// SQLite's log and locks go by the file's name: under two names there are two of each.
	var file unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_TYPE|unix.STATX_NLINK, &file) == nil &&
		file.Mode&unix.S_IFMT == unix.S_IFREG &&
		(file.Nlink > 1 || file.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0) {
		return &FileError{
			path, "has several names, by a hard link or because the file alone is mounted, " +
				"and SQLite keeps a log for each: mount its folder",
		}
	}
	return nil
}

// otherOpen returns the first name that stands for another file than this process has opened, or ""
// if there is none. A file may have been replaced after SQLite opened it. Connections of a process
// share the index of the log, so a former one may be open still, beside a new one under its name.
// The log or index that another connection of the process has open must be the same.
func (s *Store) otherOpen(now files) string {
	const folder = "/proc/self/fd/"
	descriptors, err := os.ReadDir(folder)
	if err != nil {
		return "" // no /proc: what the names stood for must do
	}
	var open [len(now)]bool
	for _, d := range descriptors {
		link, _ := os.Readlink(folder + d.Name())
		info, err := os.Stat(folder + d.Name()) // which opens nothing
		if again, _ := os.Readlink(folder + d.Name()); err != nil || again != link {
			continue // closed since
		}
		link, _ = strings.CutSuffix(link, " (deleted)")
		for i := range now {
			same := os.SameFile(now[i], info)
			if open[i] = open[i] || same; i > 0 && link == s.names[i] && !same {
				return s.names[i]
			}
		}
	}
	for i := range now {
		if now[i] != nil && !open[i] {
			return s.names[i]
		}
	}
	return ""
}

// holdsLock reports whether this process has the lock of SQLite's one writer. That is a lock of
// byte 120 of the log's index. The kernel lists all locks. Devices are not compared, since some
// file systems give stat(2) another device than the kernel has.
func (s *Store) holdsLock() bool {
	const writeLock = 120
	var index unix.Stat_t
	locks, err := os.ReadFile("/proc/locks")
	if err != nil || unix.Stat(s.names[2], &index) != nil {
		return false
	}
	ours, inode := strconv.Itoa(os.Getpid()), fmt.Sprint(index.Ino)
	for line := range strings.Lines(string(locks)) {
		// 1: POSIX  ADVISORY  WRITE 4711 fe:00:262231 120 120; one that waits has "->" in front.
		f := strings.Fields(line)
		if len(f) != 8 || f[1] != "POSIX" || f[3] != "WRITE" || f[4] != ours {
			continue
		}
		device := strings.Split(f[5], ":")
		first, err := strconv.ParseUint(f[6], 10, 64)
		if device[len(device)-1] != inode || err != nil || first > writeLock {
			continue
		}
		last, err := strconv.ParseUint(f[7], 10, 64)
		if f[7] == "EOF" || err == nil && last >= writeLock {
			return true
		}
	}
	return false
}

// publish gives a file its name, unless there is one of that name. It never has two names, which
// Open refuses.
func publish(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // the file system cannot
		return link(from, to)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
