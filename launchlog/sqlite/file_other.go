//go:build !linux

package sqlite

func checkSystem(string) error { return nil }
