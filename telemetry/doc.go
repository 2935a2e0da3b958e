// Package telemetry shows how generators, claims and launch logs do: by metrics, and by events for
// a log. It is silent unless the caller hands it something to speak to.
//
//	package              publishes                                 needs
//	telemetry            events, by a [slog.Logger] of the caller  nothing
//	telemetry/otelid     metrics, by an OpenTelemetry meter        OpenTelemetry's API
//	telemetry/promid     metrics, by a Prometheus collector        Prometheus' client
//
// The last two are modules of their own.
//
// # Metrics
//
// A [Set] holds what is looked at: generators and sources of claims, by [Add], and launch logs, by
// [Set.Watch]. It counts nothing itself. [Set.Collect] reads their Stats at that moment, so Next
// costs what it did. [Metrics] lists what there is, of the table in metrics.md.
//
//	set := new(telemetry.Set)
//	err := telemetry.Add(set, "orders", orders) // a generator
//	err = set.Watch(log, nil)                   // how many numbers are used up
//
// The attributes of all metrics have few values: names that the caller chose, schemes, kinds of
// numbers and kinds of events.
//
// # Usage
//
// How many numbers are used up stands in the launch log. So a watched log is read by
// [Set.Collect]: once a minute, for two seconds at most, by a [doctor.Watch]. In between, and where
// the log does not answer, Collect tells what was read last, and how old that is. There is no
// goroutine.
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
// Likewise [Events.Generator] is for generator.Options.Notify, [Events.Claim] for
// claims.Options.Notify, and [Events.Share] for [WatchOptions].Warn.
package telemetry
