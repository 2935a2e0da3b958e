package main

import (
	"strings"

	"github.com/spf13/cobra"

	"github.com/idmint/idmint/cmd/idmint/schema"
)

func (a *app) schemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema openapi|typescript|protobuf [SCHEME…]",
		Short: "Describe the JSON of IDs to other languages",
		Long: `Describe the JSON of IDs to other languages, for all schemes or for those named.
The JSON of an ID is a string.

  openapi     a document of OpenAPI 3.0, as JSON, with a schema for each scheme
  typescript  a module with a type, a pattern and a guard for each scheme
  protobuf    a file of Protocol Buffers with a field for each scheme

Patterns match exactly the texts that idtype's Parse accepts.`,
		Example: `  idmint schema openapi > ids.json && cat ids.json
  idmint schema typescript decimal sno`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(_ *cobra.Command, args []string) error {
			types := schema.Types()
			if len(args) > 1 {
				types = nil
			}
			for _, name := range args[1:] {
				s, err := schemeNamed(name)
				if err != nil {
					return err
				}
				for _, t := range schema.Types() {
					if t.Scheme == s.Name() {
						types = append(types, t)
					}
				}
			}
			text := ""
			switch args[0] {
			case "openapi":
				document, err := schema.OpenAPI(types)
				if err != nil {
					return err
				}
				text = string(document)
			case "typescript":
				text = schema.TypeScript(types)
			case "protobuf":
				text = schema.Protobuf(types)
			default:
				return usage("unknown language %q: want openapi, typescript or protobuf", args[0])
			}
			for line := range strings.Lines(text) {
				if err := a.out.line(strings.TrimSuffix(line, "\n")); err != nil {
					return err
				}
			}
			return nil
		},
	}
}
