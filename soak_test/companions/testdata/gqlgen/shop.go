// Package shop has the models; what docs/use/http.md shows is in ids.go.
package shop

type User struct {
	Model[User]
	Orders []*Order
}

type Order struct{ Model[Order] }
