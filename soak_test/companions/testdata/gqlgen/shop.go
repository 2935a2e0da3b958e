// Package shop has the models. The code of docs/use/http.md is in ids.go.
package shop

type User struct {
	Model[User]
	Orders []*Order
}

type Order struct{ Model[Order] }
