// Command idmintvet runs the analyzer of package vet, on packages or as the -vettool of go vet.
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"github.com/idmint/idmint/vet"
)

func main() { singlechecker.Main(vet.Analyzer) }
