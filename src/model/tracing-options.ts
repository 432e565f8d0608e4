/** The operator's options for traces: a flag for the collector's address, and OpenTelemetry's own variables. */
import { invalidArgument } from './errors.ts';
import { limits } from './limits.ts';

/** Share of new traces that are kept, from 0 to 1, and whose decision counts for a request that is part of a trace. */
export interface Sampling {
  ratio: number;
  /** true: the caller's decision; false: the ratio, whatever the caller asks for. */
  parentBased: boolean;
}

export interface TracingOptions {
  /** Address that spans are posted to. */
  url: string;
  /** Secret. */
  headers: Record<string, string>;
  serviceName: string;
  /** Attributes of the resource, besides its name. */
  resource: Record<string, string>;
  sampling: Sampling;
}

const SPECIFIC = 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT';
const GENERAL = 'OTEL_EXPORTER_OTLP_ENDPOINT';

/**
 * Returns null without an address: then the other variables do not count. Throws `invalid_argument` naming the flag or the
 * variable.
 * @param endpoint The flag's text; empty when it was not given.
 */
export function parseTracingOptions(endpoint: string, env: NodeJS.ProcessEnv): TracingOptions | null {
  const url = urlOf(endpoint, env);
  if (url === null) return null;
  assertProtocol(env);
  const resource = pairsOf(env, 'OTEL_RESOURCE_ATTRIBUTES');
  const { 'service.name': named, ...others } = resource;
  return {
    url,
    headers: {
      ...headersOf(env, 'OTEL_EXPORTER_OTLP_HEADERS'),
      ...headersOf(env, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS'),
    },
    serviceName: env['OTEL_SERVICE_NAME'] || named || 'sandhaven',
    resource: others,
    sampling: samplingOf(env),
  };
}

/** The address of traces alone is taken as it is; to a general one the path of traces is added. */
function urlOf(endpoint: string, env: NodeJS.ProcessEnv): string | null {
  if (endpoint !== '') return withPath(parseUrl('--otlp-endpoint', endpoint));
  const specific = env[SPECIFIC] || '';
  if (specific !== '') return parseUrl(SPECIFIC, specific).href;
  const general = env[GENERAL] || '';
  return general === '' ? null : withPath(parseUrl(GENERAL, general));
}

function withPath(url: URL): string {
  url.pathname = `${url.pathname.replace(/\/+$/, '')}/v1/traces`;
  return url.href;
}

function parseUrl(name: string, text: string): URL {
  const url = URL.parse(text);
  const plain = url && /^https?:$/.test(url.protocol) && url.username === '' && url.password === '';
  if (plain && url.search === '' && url.hash === '') return url;
  // The text may hold a password.
  throw invalidArgument(
    name,
    `${name} must be the http or https URL of an OTLP collector, such as http://127.0.0.1:4318.`,
    'Credentials go into OTEL_EXPORTER_OTLP_HEADERS.',
  );
}

function assertProtocol(env: NodeJS.ProcessEnv): void {
  for (const name of ['OTEL_EXPORTER_OTLP_PROTOCOL', 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL']) {
    if (env[name] !== 'grpc') continue;
    throw invalidArgument(
      name,
      `${name} is grpc, and traces are sent over HTTP.`,
      'Leave it out, and give the address of the collector’s HTTP receiver, which is usually port 4318.',
    );
  }
}

function headersOf(env: NodeJS.ProcessEnv, name: string): Record<string, string> {
  const headers = pairsOf(env, name);
  for (const [key, value] of Object.entries(headers)) {
    const valid = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/.test(key) && /^[\t\x20-\x7e]*$/.test(value);
    if (!valid) throw malformed(name);
  }
  return headers;
}

/** Reads `key=value,key=value`, percent-encoded. Its errors quote nothing, since a value may be secret. */
function pairsOf(env: NodeJS.ProcessEnv, name: string): Record<string, string> {
  const text = env[name] || '';
  const parts = text.split(',').filter((part) => part.trim() !== '');
  const { settings, settingChars } = limits.traces;
  if (parts.length > settings || text.length > settingChars) throw malformed(name);
  const pairs = parts.map((part): [string, string] => {
    const at = part.indexOf('=');
    if (at < 1) throw malformed(name);
    try {
      return [decodeURIComponent(part.slice(0, at).trim()), decodeURIComponent(part.slice(at + 1).trim())];
    } catch {
      throw malformed(name);
    }
  });
  return Object.fromEntries(pairs);
}

function malformed(name: string): Error {
  return invalidArgument(
    name,
    `${name} must be pairs of the form key=value, separated by commas.`,
    `Write other characters than letters, digits and punctuation as %XX; at most ${limits.traces.settings} pairs.`,
  );
}

/** Without a sampler every trace is kept, as the ratio has it and not as callers do: they would choose the rate. */
function samplingOf(env: NodeJS.ProcessEnv): Sampling {
  const name = 'OTEL_TRACES_SAMPLER';
  const sampler = env[name] || 'always_on';
  const parentBased = sampler.startsWith('parentbased_');
  const base = parentBased ? sampler.slice('parentbased_'.length) : sampler;
  if (base === 'always_on') return { ratio: 1, parentBased };
  if (base === 'always_off') return { ratio: 0, parentBased };
  if (base === 'traceidratio') return { ratio: ratioOf(env['OTEL_TRACES_SAMPLER_ARG'] || '1'), parentBased };
  throw invalidArgument(
    name,
    `${name} must be always_on, always_off or traceidratio, or one of them with parentbased_ before it.`,
    'Remove the variable to keep every trace.',
  );
}

function ratioOf(text: string): number {
  const ratio = /^[\d.]+$/.test(text) ? Number(text) : Number.NaN;
  if (ratio >= 0 && ratio <= 1) return ratio;
  throw invalidArgument(
    'OTEL_TRACES_SAMPLER_ARG',
    'OTEL_TRACES_SAMPLER_ARG must be a number from 0 to 1.',
    'For one trace in a hundred, 0.01.',
  );
}
