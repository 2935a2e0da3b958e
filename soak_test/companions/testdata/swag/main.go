// Package main is the shop.
//
//	@title		Shop
//	@version	1
package main

import (
	"net/http"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/sqlid"
)

type UserID = idtype.Decimal[User]

type User struct {
	ID      UserID             `json:"id"`
	Inviter *UserID            `json:"inviter"`
	Boss    sqlid.Null[UserID] `json:"boss"`
	Friends []UserID           `json:"friends"`
	Subject idtype.DecimalID   `json:"subject"`
}

// getUser returns a user.
//
//	@Param		id		path	string	true	"whose"
//	@Success	200		{object}	User
//	@Router		/users/{id} [get]
func getUser(http.ResponseWriter, *http.Request) {}

func main() { http.HandleFunc("GET /users/{id}", getUser) }
