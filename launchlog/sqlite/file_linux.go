package sqlite

import (
	"errors"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// networkFileSystems are the types of statfs(2) whose locks SQLite cannot rely on.
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

// checkSystem checks the file system of a path without symbolic links. If it cannot look at a file,
// the error is reported when the file is opened.
func checkSystem(path string) error {
	var fs unix.Statfs_t
	for _, p := range []string{path, filepath.Dir(path)} {
		if statfs(p, &fs) == nil && networkFileSystems[int64(fs.Type)] != "" {
			return &FileError{
				path, "is on a network file system (" + networkFileSystems[int64(fs.Type)] +
					"), where SQLite's locks do not work: use a local one, or a database server",
			}
		}
	}
	// SQLite names its journal and locks after the file: with two names there are two of each.
	var file unix.Statx_t
	if unix.Statx(unix.AT_FDCWD, path, 0, unix.STATX_TYPE|unix.STATX_NLINK, &file) == nil &&
		file.Mode&unix.S_IFMT == unix.S_IFREG &&
		(file.Nlink > 1 || file.Attributes&unix.STATX_ATTR_MOUNT_ROOT != 0) {
		return &FileError{
			path, "has several names, because of a hard link or because only the file is " +
				"mounted, and SQLite keeps a journal for each: mount its folder",
		}
	}
	return nil
}

// publish gives a file its name, unless that exists already. The file never has two names, which
// Open would reject.
func publish(from, to string) error {
	err := unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) { // not supported
		return link(from, to)
	}
	if err != nil {
		return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
	}
	return nil
}
