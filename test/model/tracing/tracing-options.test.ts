/** The operator's options for traces, by a flag and by OpenTelemetry's variables. */
import { describe, expect, it } from 'vitest';
import { SandhavenError } from '../../../src/model/errors.ts';
import { parseTracingOptions } from '../../../src/model/tracing-options.ts';

const URL_HERE = 'http://127.0.0.1:4318';
const parse = (env: NodeJS.ProcessEnv) => parseTracingOptions(URL_HERE, env);

function refusal(endpoint: string, env: NodeJS.ProcessEnv): SandhavenError {
  try {
    parseTracingOptions(endpoint, env);
  } catch (error) {
    if (error instanceof SandhavenError) return error;
  }
  throw new Error('it was not refused');
}

describe('traces', () => {
  it('are off without an address, whatever else is set', () => {
    expect(
      parseTracingOptions('', { OTEL_TRACES_SAMPLER: 'nonsense', OTEL_EXPORTER_OTLP_HEADERS: '=' }),
    ).toBeNull();
  });

  it('are on with one, all of them, by the name of the service', () => {
    expect(parse({})).toEqual({
      url: 'http://127.0.0.1:4318/v1/traces',
      headers: {},
      serviceName: 'sandhaven',
      resource: {},
      sampling: { ratio: 1, parentBased: false },
    });
  });

  it.each([
    ['https://a.example/', {}, 'https://a.example/v1/traces'],
    ['https://a.example/otlp/', {}, 'https://a.example/otlp/v1/traces'],
    ['', { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://b:4318' }, 'http://b:4318/v1/traces'],
    ['', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c:1/own' }, 'http://c:1/own'],
    [
      '',
      { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c/t', OTEL_EXPORTER_OTLP_ENDPOINT: 'http://b' },
      'http://c/t',
    ],
    ['http://a', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://c/t' }, 'http://a/v1/traces'],
  ])('with %s and %o go to %s', (endpoint, env, url) => {
    expect(parseTracingOptions(endpoint, env)?.url).toBe(url);
  });

  it('have the headers and attributes of the environment, decoded', () => {
    const env = {
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=general, x-team=a%20b',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'api-key=own',
      OTEL_RESOURCE_ATTRIBUTES: 'service.name=named,deployment.environment.name=test',
    };
    expect(parse(env)).toMatchObject({
      headers: { 'api-key': 'own', 'x-team': 'a b' },
      serviceName: 'named',
      resource: { 'deployment.environment.name': 'test' },
    });
    expect(parse({ ...env, OTEL_SERVICE_NAME: 'first' })?.serviceName).toBe('first');
  });

  it.each([
    ['always_on', '', 1, false],
    ['always_off', '', 0, false],
    ['traceidratio', '0.25', 0.25, false],
    ['parentbased_always_on', '', 1, true],
    ['parentbased_always_off', '', 0, true],
    ['parentbased_traceidratio', '0.01', 0.01, true],
  ])('are sampled by %s %s', (sampler, argument, ratio, parentBased) => {
    const env = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: argument };
    expect(parse(env)?.sampling).toEqual({ ratio, parentBased });
  });

  it.each([
    ['--otlp-endpoint', 'ftp://a', {}],
    ['--otlp-endpoint', 'http://user:canary@a', {}],
    ['--otlp-endpoint', 'http://a/?key=canary', {}],
    ['OTEL_EXPORTER_OTLP_ENDPOINT', '', { OTEL_EXPORTER_OTLP_ENDPOINT: 'canary' }],
    ['OTEL_EXPORTER_OTLP_TRACES_ENDPOINT', '', { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'canary' }],
    ['OTEL_EXPORTER_OTLP_PROTOCOL', URL_HERE, { OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc' }],
    ['OTEL_EXPORTER_OTLP_HEADERS', URL_HERE, { OTEL_EXPORTER_OTLP_HEADERS: 'canary' }],
    ['OTEL_EXPORTER_OTLP_HEADERS', URL_HERE, { OTEL_EXPORTER_OTLP_HEADERS: 'a b=canary' }],
    ['OTEL_EXPORTER_OTLP_HEADERS', URL_HERE, { OTEL_EXPORTER_OTLP_HEADERS: 'a=canary%0d%0ab: c' }],
    ['OTEL_EXPORTER_OTLP_HEADERS', URL_HERE, { OTEL_EXPORTER_OTLP_HEADERS: 'a=canary%zz' }],
    ['OTEL_EXPORTER_OTLP_HEADERS', URL_HERE, { OTEL_EXPORTER_OTLP_HEADERS: 'a=1,'.repeat(65) }],
    ['OTEL_RESOURCE_ATTRIBUTES', URL_HERE, { OTEL_RESOURCE_ATTRIBUTES: '=canary' }],
    ['OTEL_RESOURCE_ATTRIBUTES', URL_HERE, { OTEL_RESOURCE_ATTRIBUTES: `a=${'b'.repeat(16_384)}` }],
    ['OTEL_TRACES_SAMPLER', URL_HERE, { OTEL_TRACES_SAMPLER: 'jaeger_remote' }],
    [
      'OTEL_TRACES_SAMPLER_ARG',
      URL_HERE,
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '2' },
    ],
    [
      'OTEL_TRACES_SAMPLER_ARG',
      URL_HERE,
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '-1' },
    ],
  ])('name %s, and quote nothing, where it is wrong', (name, endpoint, env) => {
    const { code, fields, message } = refusal(endpoint, env);
    expect([code, fields.parameter]).toEqual(['invalid_argument', name]);
    expect(fields.hint).toBeTruthy();
    expect(message + fields.hint).not.toContain('canary');
  });
});
