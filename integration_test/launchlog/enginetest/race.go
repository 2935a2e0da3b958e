//go:build race

package enginetest

func init() { raceDetector = true }
