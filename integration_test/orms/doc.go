// Package orms tests packages bunid and entid with bun and ent on real databases. It is a separate
// module, because these libraries and their generator would slow down all other tests. It also
// tests plain SQL, with which docs/use/upserts.md compares them.
package orms
