// Package assert has the signatures of testify's.
package assert

type TestingT interface{ Errorf(string, ...any) }

type Assertions struct{}

func Equal(TestingT, any, any, ...any) bool                      { return false }
func NotEqual(TestingT, any, any, ...any) bool                   { return false }
func EqualValues(TestingT, any, any, ...any) bool                { return false }
func Equalf(TestingT, any, any, string, ...any) bool             { return false }
func (*Assertions) NotEqual(expected, actual any, _ ...any) bool { return false }
