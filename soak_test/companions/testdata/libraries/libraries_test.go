// Package libraries takes keys through the libraries that programs use around them. Each test of a
// library is a row of docs/use/companions.md.
package libraries

import (
	"cmp"
	"errors"
	"flag"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/idmint/idmint/idtype"
	"github.com/idmint/idmint/publicid"
	"github.com/idmint/idmint/sqlid"
)

type (
	User  struct{ ID UserID }
	Event struct{ ID EventID }

	UserID  = idtype.Decimal[User]
	EventID = idtype.Sno[Event]
	EightID = idtype.EightByte[Event]
	ShortID = idtype.Short[Event]

	inUsers  struct{}
	PublicID = publicid.ID[UserID, inUsers]
)

var users = func() *publicid.Codec[UserID] {
	key := must(publicid.ParseKey("0-" + strings.Repeat("9f", 32)))
	return must(publicid.NewScrambled[UserID]("user", key))
}()

func (inUsers) Codec() *publicid.Codec[UserID] { return users }

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

const (
	decimal = 14150009200065
	sno     = "8fhmi7mfls62jp64"
	eight   = "5b9bda2989e1989b"
	short   = "xinaS8QBh"
)

// A row has keys in all the forms that a program's structs have.
type row struct {
	User   UserID                `json:"user" yaml:"user" toml:"user" bson:"user" dynamodbav:"user" avro:"user" xml:"user" csv:"user" schema:"user" form:"user" env:"USER_KEY" envconfig:"USER_KEY" mapstructure:"user"`
	Event  EventID               `json:"event" yaml:"event" toml:"event" bson:"event" dynamodbav:"event" xml:"event" csv:"event" schema:"event" form:"event" env:"EVENT" envconfig:"EVENT" mapstructure:"event"`
	Eight  EightID               `json:"eight" yaml:"eight" toml:"eight" bson:"eight" dynamodbav:"eight" xml:"eight" csv:"eight" schema:"eight" form:"eight" env:"EIGHT" envconfig:"EIGHT" mapstructure:"eight"`
	Short  ShortID               `json:"short" yaml:"short" toml:"short" bson:"short" dynamodbav:"short" xml:"short" csv:"short" schema:"short" form:"short" env:"SHORT" envconfig:"SHORT" mapstructure:"short"`
	OrZero idtype.OrZero[UserID] `json:"orzero" yaml:"orzero" toml:"orzero" bson:"orzero" dynamodbav:"orzero" xml:"orzero" csv:"orzero" schema:"orzero" form:"orzero" env:"ORZERO" envconfig:"ORZERO" mapstructure:"orzero"`
	Null   sqlid.Null[EventID]   `json:"null" yaml:"null" toml:"null" bson:"null" dynamodbav:"null" xml:"null" csv:"null" schema:"null" form:"null" env:"NULL" envconfig:"NULL" mapstructure:"null"`
	Public PublicID              `json:"public" yaml:"public" toml:"public" bson:"public" dynamodbav:"public" xml:"public" csv:"public" schema:"public" form:"public" env:"PUBLIC" envconfig:"PUBLIC" mapstructure:"public"`
}

func full() row {
	return row{
		User: decimal, Event: idtype.MustParse[EventID](sno), Eight: idtype.MustParse[EightID](eight),
		Short: idtype.MustParse[ShortID](short), OrZero: idtype.OrZero[UserID]{ID: 57},
		Null: sqlid.NullOf(idtype.MustParse[EventID](sno)), Public: publicid.Of[inUsers](UserID(57)),
	}
}

// sparse has no optional ID.
func sparse() row {
	r := full()
	r.OrZero, r.Null = idtype.OrZero[UserID]{}, sqlid.Null[EventID]{}
	return r
}

var library = struct {
	sync.Mutex
	tested map[string]bool
}{tested: map[string]bool{}}

// is says which row of the page a test is.
func is(t *testing.T, name string) {
	t.Helper()
	library.Lock()
	defer library.Unlock()
	library.tested[name] = true
	t.Cleanup(func() {
		if t.Failed() {
			t.Errorf("docs/use/companions.md: the row of %s no longer holds", name)
		}
	})
}

// TestMain holds the page against the tests that ran, when all did.
func TestMain(m *testing.M) {
	flag.Parse()
	code := m.Run()
	if flag.Lookup("test.run").Value.String() != "" {
		os.Exit(code)
	}
	page, err := os.ReadFile("../../../../docs/use/companions.md")
	rows := map[string]bool{}
	for _, cells := range regexp.MustCompile(`(?m)^\| ([^|]+) \| (?:works|with|do not|refuses)`).FindAllSubmatch(page, -1) {
		for name := range strings.SplitSeq(string(cells[1]), ", ") {
			rows[name] = true
		}
	}
	if err != nil || !maps.Equal(rows, library.tested) {
		println("docs/use/companions.md has rows of", strings.Join(slices.Sorted(maps.Keys(rows)), ", "),
			"\nand tests are of", strings.Join(slices.Sorted(maps.Keys(library.tested)), ", "))
		code = 1
	}
	os.Exit(code)
}

// shown are the numbers behind public IDs, in the forms that an encoder could show.
var shown = []string{"ID\":57", "id\":57"}

// roundTrips takes rows through a format, and refuses what is no ID.
func roundTrips(t *testing.T, marshal func(any) ([]byte, error), unmarshal func([]byte, any) error) {
	t.Helper()
	for _, want := range []row{full(), sparse()} {
		data, err := marshal(want)
		got := full() // what is read must not stay as it was
		if err = cmp.Or(err, unmarshal(data, &got)); err != nil || got != want {
			t.Errorf("%s came back as %+v, %v, want %+v", data, got, err, want)
		}
	}
	if data, err := marshal(row{}); err == nil { // JSON has null
		var got row
		if err := unmarshal(data, &got); err != nil || got != (row{}) {
			t.Errorf("zero is written as %q, and read as %+v, %v", data, got, err)
		}
	}
	type lists struct {
		IDs  []UserID           `json:"ids" yaml:"ids" toml:"ids" bson:"ids"`
		Keys map[UserID]string  `json:"keys" yaml:"keys" toml:"keys" bson:"keys"`
		Sno  map[EventID]string `json:"sno" yaml:"sno" toml:"sno" bson:"sno"`
		Ptr  *UserID            `json:"ptr" yaml:"ptr" toml:"ptr" bson:"ptr"`
	}
	id, event := UserID(decimal), idtype.MustParse[EventID](sno)
	in := lists{[]UserID{57, id}, map[UserID]string{id: "a"}, map[EventID]string{event: "b"}, &id}
	data, err := marshal(in)
	var out lists
	if err := cmp.Or(err, unmarshal(data, &out)); err != nil || !reflect.DeepEqual(out, in) {
		t.Errorf("%s came back as %+v, %v", data, out, err)
	}
}

// refuses gives a format inputs that are no ID.
func refuses(t *testing.T, unmarshal func([]byte, any) error, bad ...string) {
	t.Helper()
	for _, data := range bad {
		got := full()
		err := unmarshal([]byte(data), &got)
		if err == nil || got != full() {
			t.Errorf("%q is %+v, %v", data, got, err)
		}
	}
}

// isInput reports whether an error still is the ID's.
func isInput(err error) bool { return errors.As(err, new(*idtype.InputError)) }
