package gorm_test

import (
	"gorm.io/gorm"

	"github.com/idmint/idmint/idtype"
)

// A small shop, with a relation of each kind and a key type per entity. ManagerID has UserID's long
// name: Go 1.25 does not compile *UserID there. docs/versions.md says why.
type (
	CompanyID = idtype.Decimal[Company]
	UserID    = idtype.Decimal[User]
	OrderID   = idtype.Decimal[Order]
	TagID     = idtype.Decimal[Tag]

	Company struct {
		ID   CompanyID
		Name string `gorm:"unique"`
	}
	User struct {
		ID        UserID
		Name      string
		CompanyID *CompanyID // belongs to
		Company   *Company
		Profile   *Profile              // has one
		Orders    []Order               // has many
		Tags      []*Tag                `gorm:"many2many:user_tags"`
		Friends   []*User               `gorm:"many2many:user_friends"`
		Notes     []Note                `gorm:"polymorphic:Owner"`
		ManagerID *idtype.Decimal[User] // self-referencing
		Manager   *User
		Team      []User `gorm:"foreignKey:ManagerID"`
	}
	// Profile's primary key is a foreign key.
	Profile struct {
		UserID UserID `gorm:"primaryKey"`
		Bio    string
	}
	Order struct {
		ID        OrderID
		UserID    UserID
		Positions []Position
		Notes     []Note `gorm:"polymorphic:Owner"`
		DeletedAt gorm.DeletedAt
	}
	Position struct {
		ID      idtype.Decimal[Position]
		OrderID OrderID
		Text    string
	}
	Tag struct {
		ID   TagID
		Name string `gorm:"unique"`
	}
	Note struct {
		ID        idtype.Decimal[Note]
		OwnerID   idtype.DecimalID
		OwnerType string
		Text      string
	}
)

func allModels() []any {
	return []any{&Company{}, &User{}, &Profile{}, &Order{}, &Position{}, &Tag{}, &Note{}}
}

// Author and Book are two entities without anything else.
type (
	Author struct {
		ID    idtype.Decimal[Author]
		Name  string `gorm:"unique"`
		Books []Book
	}
	Book struct {
		ID       idtype.Decimal[Book]
		AuthorID idtype.Decimal[Author]
		Title    string
	}
)
