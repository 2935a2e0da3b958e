package app

import (
	"database/sql"
	"reflect"
	"strconv"

	"github.com/stretchr/testify/assert"

	"github.com/idmint/idmint/idtype"
)

type (
	UserID  = idtype.Decimal[User]
	EventID = idtype.Sno[Event]
)

type User struct {
	ID     UserID  `gorm:"primaryKey;autoIncrement" json:"id,omitempty"` // want `autoIncrement lets the database number the rows: remove it, gormid assigns the UserID`
	Boss   *UserID `gorm:"AUTOINCREMENT"`                                // want `autoIncrement lets`
	Other  UserID  `gorm:"autoIncrement:false;index"`
	Number uint    `gorm:"autoIncrement"`
}

type Event struct {
	ID    EventID                       `json:"id,omitempty"` // want `omitempty never omits a value of type EventID: use omitzero`
	Cause EventID                       `json:"cause,omitzero"`
	Maybe *EventID                      `json:"maybe,omitempty"`
	Null  sql.Null[UserID]              `json:",omitempty"`     // want `omitempty never omits`
	None  idtype.OrZero[idtype.ShortID] `json:"none,omitempty"` // want `omitempty never omits`
	Plain sql.Null[int64]               `json:"plain,omitempty"`
}

func narrow(id UserID) {
	_ = int32(id)   // want `int32 does not hold an ID of 64 bits`
	_ = uint8(id)   // want `uint8 does not hold`
	_ = float64(id) // want `float64 does not hold all IDs above 2\^53`
	_, _, _ = int64(id), uint64(id), int(id)
	_ = idtype.DecimalID(id)
	_ = int32(len(id.String()))
	_ = int32(int64(id)) // want `int32 does not hold an ID of 64 bits: keep the UserID`
	n := uint64(id)
	_ = int32(n) // want `int32 does not hold an ID`
	m := int64(len(id.String()))
	_ = int32(m)
}

func compare(id UserID, t assert.TestingT, a *assert.Assertions) {
	_ = id == 7 // want `compared with the constant 7`
	_ = 1 < id  // want `compared with the constant 1`
	_ = id == 0
	_ = int64(id) == 7 // want `compared with the constant 7`
	_ = int64(id) > 1<<40
	switch id {
	case 0, id:
	case 1: // want `compared with the constant 1`
	}
	assert.Equal(t, 7, id)                // want `Equal of a .* and a int always fails`
	assert.NotEqual(t, id, uint(7))       // want `NotEqual of a .* and a uint never fails`
	assert.Equalf(t, int64(id), id, "no") // want `Equalf of a .* and a int64 always fails`
	a.NotEqual(idtype.DecimalID(id), id)  // want `NotEqual of a .* never fails`
	assert.Equal(t, id, id)
	assert.EqualValues(t, 7, id)
	assert.Equal(t, any(id), id)
	_ = reflect.DeepEqual(id, 7) // want `DeepEqual of a .* and a int is always false`
}

func remainder(id UserID) int64 {
	_ = uint64(id) % 16 // want `the remainder of an ID`
	_ = int64(len(id.String())) % 16
	return int64(id % 16) // want `the remainder of an ID is not spread evenly`
}

func parse(text string) UserID {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	m, _ := strconv.Atoi(text)
	_ = UserID(m) // want `strconv.Atoi accepts texts that are not IDs: use idtype.Parse\[UserID\]`
	_ = EventID{byte(n)}
	return UserID(int64(n)) // want `strconv.ParseInt accepts texts that are not IDs`
}

func lowBits(id UserID) int64 {
	_ = id & 15         // want `the remainder of an ID`
	_ = int64(id) & 0xf // want `the remainder of an ID`
	_ = id & (1<<22 - 1)
	shard := int64(id)
	shard %= 16 // want `the remainder of an ID`
	return shard
}
