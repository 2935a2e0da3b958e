package otelid

import (
	"strconv"

	"go.opentelemetry.io/otel/attribute"

	"github.com/idmint/idmint/launchlog"
)

// Resource returns the attributes that OpenTelemetry's semantic conventions define for an app of a
// launch. Add them to the resource of the app's SDK, so that all its metrics, traces and logs have
// them:
//
//	deployment.id                 the launch number, such as "4711"
//	deployment.environment.name   the launch's environment
//	service.name                  the launch's service
//	service.version               the launch's version, if it has one
//
// An app that only knows its launch number gets the launch from launchlog's Log.Show.
func Resource(launch launchlog.Launch) []attribute.KeyValue {
	attributes := []attribute.KeyValue{
		attribute.String("deployment.id", strconv.Itoa(launch.ID)),
		attribute.String("deployment.environment.name", launch.Environment),
		attribute.String("service.name", launch.Service),
	}
	if launch.Version != "" {
		attributes = append(attributes, attribute.String("service.version", launch.Version))
	}
	return attributes
}
