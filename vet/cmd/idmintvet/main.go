// Command idmintvet is package vet as a program: on packages, or as go vet's -vettool.
package main

import (
	"golang.org/x/tools/go/analysis/singlechecker"

	"github.com/idmint/idmint/vet"
)

func main() { singlechecker.Main(vet.Analyzer) }
