// Package deploy holds recipes that start a launch once for each deployment, for pipelines,
// Kubernetes, systemd and Docker Compose. Copy the files that you need: docs/operate/recipes.md
// describes each of them.
//
// The tests extract the scripts from the recipes, and run them with the static binary on
// PostgreSQL.
package deploy
