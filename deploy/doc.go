// Package deploy holds recipes that start a launch once for each deployment. They are for pipelines,
// Kubernetes, systemd and Docker Compose. The files are to be copied: docs/operate/recipes.md says
// what each does.
//
// Its tests take the scripts out of the recipes, and run them with the static binary on PostgreSQL.
package deploy
