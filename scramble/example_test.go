package scramble_test

import (
	"fmt"

	"github.com/idmint/idmint/scramble"
)

// What users see of each other's IDs, which count users.
func Example() {
	key, err := scramble.ParseKey("9f86d081884c7d659a2feaa0c55ad015") // from the configuration
	if err != nil {
		panic(err)
	}
	p, err := scramble.NewNetwork(scramble.Int63, key)
	if err != nil {
		panic(err)
	}
	for id := UserID(14150009200065); id < 14180000000000; id += 10_000_000_000 {
		shown, err := scramble.ID(p, id)
		fmt.Println(id, shown, err)
	}
	fmt.Println(scramble.Original(p, UserID(1229126856127441689))) // as a client sent it
	// Output:
	// 14150009200065 1229126856127441689 <nil>
	// 14160009200065 3382593545104141695 <nil>
	// 14170009200065 3191126470112015126 <nil>
	// 14150009200065 <nil>
}

// IDs of a sequence fit ECMAScript's numbers, and so do their scrambled forms.
func ExampleNewNetwork() {
	key, _ := scramble.ParseKey("9f86d081884c7d659a2feaa0c55ad015")
	p, _ := scramble.NewNetwork(scramble.Int53, key)
	for id := int64(57); id < 60; id++ {
		shown, _ := p.Scramble(id)
		back, _ := p.Unscramble(int64(float64(shown)))
		fmt.Println(id, shown, back)
	}
	_, err := p.Scramble(1 << 53)
	fmt.Println(err)
	// Output:
	// 57 2975493270299062 57
	// 58 6764683864647961 58
	// 59 2375136438477743 59
	// scramble: 9007199254740992 is outside 1..9007199254740991
}

// An app that keeps the scrambled form of 1 beside its key does not start with another one.
func ExampleParseKey() {
	const formOf1 = 7042601497076382426

	key, err := scramble.ParseKey("9f86d081884c7d659a2feaa0c55ad015")
	if err != nil {
		panic(err)
	}
	p, _ := scramble.NewNetwork(scramble.Int63, key)
	one, _ := p.Scramble(1)
	fmt.Println(one == formOf1)
	// Output: true
}
