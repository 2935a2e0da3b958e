package sqlite

import (
	"path/filepath"

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
}

var statfs = unix.Statfs // replaced in tests

func refuseNetwork(path string) error {
	var st unix.Statfs_t
	// A path that is not there is reported when it is opened.
	if err := statfs(filepath.Dir(path), &st); err != nil {
		return nil
	}
	if name, ok := networkFileSystems[int64(st.Type)]; ok {
		return &NetworkError{Path: path, FileSystem: name}
	}
	return nil
}
