//require github.com/riverqueue/river v0.51.2
//require github.com/riverqueue/river/riverdriver/riverpgxv5 v0.51.2

package main

import (
	"context"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/riverdriver/riverpgxv5"

	"github.com/idmint/idmint/generator"
)

type welcome struct {
	User UserID `json:"user"`
}

func (welcome) Kind() string { return "welcome" }

func companion(ctx context.Context, ids *generator.Decimal) {
	workers := river.NewWorkers()
	river.AddWorker(workers, river.WorkFunc(func(context.Context, *river.Job[welcome]) error { return nil }))
	must(river.NewClient(riverpgxv5.New(nil), &river.Config{Workers: workers})) // inserts alone
}
