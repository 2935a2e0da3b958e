// Package nilable detects nil even inside an interface, for which a method call would panic.
package nilable

import "reflect"

// IsNil reports whether v is nil, or holds a nil pointer or function.
func IsNil(v any) bool {
	switch rv := reflect.ValueOf(v); rv.Kind() {
	case reflect.Invalid:
		return true
	case reflect.Pointer, reflect.Func:
		return rv.IsNil()
	}
	return false
}
