// Package viewer serves web pages that show a launch log and explain IDs, as an [http.Handler].
//
//	pages, err := viewer.New(log, nil)
//	mux.Handle("/idmint/", http.StripPrefix("/idmint", pages))
//
//	path            shows
//	/               explains IDs: their parts, their time, and who launched them
//	/launches       the launches, the newest first; /launches/65 one of them
//	/health         what is used up, and what the checks of package doctor find
//	/healthz        the same for machines: 200, or 503 if something is wrong
//	/metrics        Options.Metrics
//
// The first page also works without a launch log, except that it cannot show launches. If
// application/json comes first in a client's Accept header, each page answers with JSON, in which
// 64-bit numbers are strings, and the data of a launch are as they were stored.
//
// # Nothing is written
//
// The handler answers only GET and HEAD, and only reads from the log, so a role that may only
// SELECT is enough. There are two exceptions. The store of SQLite switches a file to the
// write-ahead log when it opens it. In ZooKeeper the check of the clock writes a time, as package
// doctor describes. The pages load nothing from other sites, which their Content-Security-Policy
// also forbids. Texts from the log are escaped, and invisible characters are shown by their code.
//
// # Mounting
//
// All links are relative, so the pages work under any path, which must be stripped before the
// handler.
//
// # Why the server decodes
//
// IDs are decoded by the types of package idtype, as everywhere else in the program. A second
// decoder in the browser could differ, and could not ask the launch log. Therefore the pages need
// no script, and the one that they have only saves clicks.
//
// # Who may see the pages
//
// Everybody who can reach the handler sees the pages, unless [Options].Auth is set. Launches show
// who deployed what and why, and on which host it runs, but unauthorized visitors see nothing of
// the log. [Options].Hosts prevents other sites that are open in a browser of your network from
// reading the pages.
package viewer
