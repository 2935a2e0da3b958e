package main

import (
	"errors"
	"runtime/debug"
	"strings"

	"github.com/spf13/cobra"
)

// A version tells which build this is. Commit is empty where the build knows none, as with go run.
type version struct {
	Version string `json:"version"`
	Commit  string `json:"commit,omitempty"`
	Dirty   bool   `json:"dirty,omitempty"` // files differ from the commit
	Go      string `json:"go"`
}

func versionOf(info *debug.BuildInfo) version {
	v := version{Version: info.Main.Version, Go: info.GoVersion}
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			v.Commit = s.Value
		case "vcs.modified":
			v.Dirty = s.Value == "true"
		}
	}
	return v
}

func (v version) String() string {
	var b strings.Builder
	b.WriteString("idmint " + v.Version)
	if v.Commit != "" {
		b.WriteString(", commit " + v.Commit)
	}
	if v.Dirty {
		b.WriteString("-dirty")
	}
	b.WriteString(", " + v.Go)
	return b.String()
}

// addVersion gives the root command --version, which cobra's own would answer without --json.
func (a *app) addVersion(root *cobra.Command) {
	wanted := root.Flags().Bool("version", false, "tell the version, the commit and Go")
	help := root.RunE
	root.RunE = func(c *cobra.Command, args []string) error {
		if !*wanted {
			return help(c, args)
		}
		info, ok := debug.ReadBuildInfo()
		if !ok { // no Go command built this
			return errors.New("this build has no version")
		}
		v := versionOf(info)
		if a.json {
			return a.out.json(v)
		}
		return a.out.line(v.String())
	}
}
