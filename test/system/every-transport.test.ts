import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { tools } from '../../src/catalog/index.ts';
import { inPart } from '../deep/parts.ts';
import { type Service, startService } from '../support/service.ts';
import { type Parameters, type Transport, transports } from '../support/transports.ts';
import { everyTool } from './every-tool/every-tool.ts';
import { walkedFlags } from './every-tool/snapshots.ts';

let service: Service;

beforeAll(async () => {
  service = await startService({ flags: walkedFlags });
}, 120_000);

afterAll(() => service?.stop());

const toolkit = tools.map(({ name }) => name).filter((name) => name.startsWith('Sandbox.'));

describe.each(Object.entries(transports))('over %s', (name, open) => {
  // Each call of the command line starts a program: the part `replicas` has all tools of it.
  const whole = name !== 'CLI' || inPart('output') || inPart('replicas');
  const walked = whole
    ? 'every tool of the catalogue works'
    : 'the tools of sandboxes, programs and files work';
  const used = new Set<string>();
  let transport: Transport;

  beforeAll(async () => {
    transport = await open(service);
  });
  afterAll(() => transport?.close());

  async function ok(tool: string, parameters: Parameters = {}): Promise<Record<string, unknown>> {
    used.add(`Sandbox.${tool}`);
    const { result, problem } = await transport.invoke(tool, parameters);
    if (problem) throw new Error(`${tool}: ${JSON.stringify(problem)}`);
    return result;
  }

  async function refused(tool: string, parameters: Parameters, code: string): Promise<void> {
    const { problem } = await transport.invoke(tool, parameters);
    expect(problem).toMatchObject({ code });
    expect(problem?.['request_id']).toBeTruthy();
  }

  it(`[SBX-TOOLS-02] ${walked}`, async () => {
    await everyTool(ok, service, whole ? undefined : {});
    if (whole) expect([...used].sort()).toEqual(toolkit.sort());
  }, 300_000);

  it('errors are the same object, with the code of the table', async () => {
    await refused('GetSandbox', { sandbox: 'nobody' }, 'not_found');
    await refused('CreateSandbox', { cpu: 99 }, 'invalid_argument');
    await refused('RunCommand', { command: 'true' }, 'ambiguous_sandbox');
  });
});
