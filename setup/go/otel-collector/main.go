// The OTLP receiver of the OpenTelemetry collector, for tests: prints the spans of each request as a line of JSON.
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"go.opentelemetry.io/collector/component"
	"go.opentelemetry.io/collector/confmap"
	"go.opentelemetry.io/collector/consumer"
	"go.opentelemetry.io/collector/pdata/pcommon"
	"go.opentelemetry.io/collector/pdata/ptrace"
	"go.opentelemetry.io/collector/receiver"
	"go.opentelemetry.io/collector/receiver/otlpreceiver"
	"go.opentelemetry.io/otel/metric/noop"
	traces "go.opentelemetry.io/otel/trace/noop"
	"go.uber.org/zap"
)

type host struct{}

func (host) GetExtensions() map[component.ID]component.Component { return nil }

func main() {
	if len(os.Args) != 2 {
		log.Fatal("usage: otel-collector ADDRESS | --version")
	}
	if os.Args[1] == "--version" {
		fmt.Println(otlpreceiver.NewFactory().Type())
		return
	}
	if err := serve(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func serve(address string) error {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	factory := otlpreceiver.NewFactory()
	config := factory.CreateDefaultConfig()
	given := confmap.NewFromStringMap(map[string]any{
		"protocols": map[string]any{"http": map[string]any{"endpoint": address}},
	})
	if err := given.Unmarshal(config); err != nil {
		return err
	}
	settings := receiver.Settings{
		ID: component.NewID(factory.Type()),
		TelemetrySettings: component.TelemetrySettings{
			Logger:         zap.NewNop(),
			TracerProvider: traces.NewTracerProvider(),
			MeterProvider:  noop.NewMeterProvider(),
			Resource:       pcommon.NewResource(),
		},
	}
	sink, err := consumer.NewTraces(print)
	if err != nil {
		return err
	}
	spans, err := factory.CreateTraces(ctx, settings, config, sink)
	if err != nil {
		return err
	}
	if err := spans.Start(ctx, host{}); err != nil {
		return err
	}
	fmt.Println("ready")
	<-ctx.Done()
	return spans.Shutdown(context.Background())
}

func print(_ context.Context, received ptrace.Traces) error {
	text, err := (&ptrace.JSONMarshaler{}).MarshalTraces(received)
	if err == nil {
		fmt.Println(string(text))
	}
	return err
}
