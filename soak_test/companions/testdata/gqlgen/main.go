// Command server answers one query with the code that gqlgen generated.
package main

import (
	"context"
	"fmt"
	"net/http/httptest"
	"os"
	"strings"

	"example.com/shop"
	"example.com/shop/graph"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/idmint/idmint/idtype"
)

type resolver struct{}

func (r resolver) Query() graph.QueryResolver { return r }

func (resolver) User(_ context.Context, id idtype.DecimalID) (*shop.User, error) {
	order := &shop.Order{Model: shop.Model[shop.Order]{ID: 20000000001}}
	return &shop.User{Model: shop.Model[shop.User]{ID: idtype.Decimal[shop.User](id)},
		Orders: []*shop.Order{order}}, nil
}

func (resolver) Order(context.Context, idtype.DecimalID) (*shop.Order, error) {
	return &shop.Order{}, nil // without its key
}

func main() {
	server := handler.New(graph.NewExecutableSchema(graph.Config{Resolvers: resolver{}}))
	server.AddTransport(transport.POST{})
	for _, query := range os.Args[1:] {
		r := httptest.NewRequest("POST", "/", strings.NewReader(query))
		r.Header.Set("Content-Type", "application/json")
		w := httptest.NewRecorder()
		server.ServeHTTP(w, r)
		fmt.Println(w.Body)
	}
}
