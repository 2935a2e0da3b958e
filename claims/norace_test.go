//go:build !race

package claims_test

const seeds = 120
