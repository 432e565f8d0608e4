/** Collector of traces, by OpenTelemetry's protocol over HTTP. */
import { flag } from '../flag.ts';

export const otlpEndpoint = flag({
  name: 'otlp-endpoint',
  default: '',
  help: 'OTLP collector that traces go to, such as http://127.0.0.1:4318; none without it',
  parse: (text) => text,
});
