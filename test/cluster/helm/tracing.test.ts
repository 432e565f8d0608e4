/** The chart's collector of traces, without a cluster: what the service gets of it, and what the schema refuses. */
import { afterAll, describe, expect, it } from 'vitest';
import { parseAllDocuments } from 'yaml';
import { chart, openTools, required, type Values } from './helm.ts';

const tools = openTools(null);
afterAll(() => tools.remove());

const least = required({
  service: 'registry.example/sandhaven:1.0.0',
  agent: 'registry.example/sandhaven-agent:1.0.0',
  base: 'registry.example/sandhaven-base:1.0.0',
});

function settings(tracing: Values): Record<string, unknown> {
  const values = { ...least, tracing };
  const text = tools.helm(['template', 'sandhaven', chart, '--namespace', 'tools'], values);
  const objects = parseAllDocuments(text).map((document) => document.toJS());
  const { spec } = objects.find((object) => object?.kind === 'Deployment');
  const env: { name: string; value?: string; valueFrom?: object }[] = spec.template.spec.containers[0].env;
  const own = env.filter(({ name }) => /OTLP|OTEL/.test(name));
  return Object.fromEntries(own.map(({ name, value, valueFrom }) => [name, value ?? valueFrom]));
}

describe('the collector of the chart', () => {
  it('is none by default, and none by headers alone', () => {
    expect(settings({})).toEqual({});
    expect(settings({ existingSecret: 'collector' })).toEqual({});
  });

  it('is the service’s by environment, its headers by reference', () => {
    const endpoint = 'http://collector.observability:4318';
    expect(settings({ endpoint })).toEqual({ SANDHAVEN_OTLP_ENDPOINT: endpoint });
    expect(settings({ endpoint, existingSecret: 'collector', headersKey: 'own' })).toEqual({
      SANDHAVEN_OTLP_ENDPOINT: endpoint,
      OTEL_EXPORTER_OTLP_HEADERS: { secretKeyRef: { name: 'collector', key: 'own' } },
    });
  });

  it.each([
    ['headers in the open', { headers: 'a=b' }, 'headers'],
    ['an address of another kind', { endpoint: 'grpc://collector:4317' }, 'endpoint'],
    ['a password in its address', { endpoint: 'https://a:b@collector' }, 'endpoint'],
    ['a Secret that is none', { existingSecret: 'No Secret' }, 'existingSecret'],
  ])('is refused with %s', (_, tracing, why) => {
    expect(() => settings(tracing)).toThrow(why);
  });
});
