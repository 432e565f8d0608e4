/** Names the version of OpenTelemetry's collector that tests send traces to, and the folder of the cache that holds it. */
import { join } from 'node:path';
import { defaultCacheDir } from '../../src/runtime/images/cache-dir.ts';

/** Of `otlpreceiver` in otel-collector/go.mod, and behind the plus a number of ours for each change there. */
const VERSION = 'v0.165.0+1';

export const otelCollectorStore = join(defaultCacheDir(), 'otel-collector');

export const otelCollectorProgram = join(otelCollectorStore, VERSION, 'otel-collector');
