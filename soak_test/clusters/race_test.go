//go:build race

package clusters_test

func init() { raceDetector = true }
