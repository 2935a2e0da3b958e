// Package orms tests what idmint ships for bun and ent, with these libraries and on databases. It
// is a module of its own: they and their generator would weigh on all other tests. Plain SQL is
// there to compare: docs/use/upserts.md shows it beside them.
package orms
