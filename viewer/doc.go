// Package viewer is a page for a launch log and for IDs, as an [http.Handler].
//
//	pages, err := viewer.New(log, nil)
//	mux.Handle("/idmint/", http.StripPrefix("/idmint", pages))
//
//	path            shows
//	/               what IDs are: their parts, their time, and who launched them
//	/launches       the launches, the newest first; /launches/65 one of them
//	/health         what is used up, and what the checks of package doctor find
//	/healthz        the same for machines: 200, or 503 where something is wrong
//	/metrics        Options.Metrics
//
// The first page works without a launch log, for everything but the launch. A client that accepts
// application/json first gets JSON from all of them. Numbers of 64 bits are texts in it. The data
// of a launch are as they were stored.
//
// # Nothing is written
//
// The handler answers GET and HEAD, and asks the log by methods that read. A role that may only
// SELECT is enough. How a store opens its database is its own affair: that of SQLite switches a
// file to the write-ahead log. In ZooKeeper the check of the clock writes a time: see package
// doctor. The pages load nothing from elsewhere, and their Content-Security-Policy forbids it.
// Texts of the log are escaped, and characters that nobody would see are shown by their code.
//
// # Mounting
//
// All links are relative, so the pages work under any path. Strip it before the handler.
//
// # Why the server decodes
//
// IDs are read by the types of package idtype, as everywhere else in the program. A decoder in the
// browser would be a second one, which could differ. It could also not ask the launch log. So the
// pages need no script. The one that they have saves clicks.
//
// # Who may see the pages
//
// Everybody who reaches the handler, unless [Options].Auth says otherwise. Launches tell who
// deployed what and why, and on which host it runs. Whoever is not admitted sees nothing of the
// log. [Options].Hosts keeps pages of strangers out that a browser of your network has open.
package viewer
