// Package telemetry reports metrics and events for generators, claims and launch logs. It reports
// nothing unless the caller passes it a logger or collects its metrics.
//
//	package              publishes                                   needs
//	telemetry            events, with a [slog.Logger] of the caller  nothing
//	telemetry/otelid     metrics, with an OpenTelemetry meter        OpenTelemetry's API
//	telemetry/promid     metrics, with a Prometheus collector        Prometheus' client
//
// Packages otelid and promid are separate modules.
//
// # Metrics
//
// A [Set] holds what is measured: generators and sources of claims, added by [Add], and launch
// logs, added by [Set.Watch]. It does not count anything, so that Next costs the same as without
// it. Instead, [Set.Collect] reads the present Stats of each. [Metrics] lists all metrics, as in
// the table of metrics.md.
//
//	set := new(telemetry.Set)
//	err := telemetry.Add(set, "orders", orders) // a generator
//	err = set.Watch(log, nil)                   // how many of its numbers are used
//
// The attributes of all metrics have few values: names chosen by the caller, schemes, kinds of
// numbers and kinds of events.
//
// # Usage
//
// The launch log knows how many of its numbers are used. Therefore [Set.Collect] reads a watched
// log with a [doctor.Watch], once a minute, and waits for it for at most two seconds. Between
// readings, and if the log does not answer, Collect reports the last reading and its age. No
// goroutine is involved.
//
// # Events
//
// [Events] has a method for each callback of the library:
//
//	events := telemetry.NewEvents(logger)
//	log, err := launchlog.New(store, &launchlog.Options{
//		Observe: events.Step, Taken: events.Taken,
//	})
//
// [Events.Generator] is for generator.Options.Notify, [Events.Claim] for claims.Options.Notify, and
// [Events.Share] for [WatchOptions].Warn.
package telemetry
