/** Spans of calls: which there are, beneath which, and what they say. */
import { afterEach, describe, expect, it } from 'vitest';
import { type RecordedTraces, recordTraces, treeOf } from './recorded-spans.ts';
import { API_KEY, type ServiceOfParts, startService } from './service-of-parts.ts';

let service: ServiceOfParts;

afterEach(() => service.close());

async function start(warm = 0): Promise<RecordedTraces> {
  const traces = recordTraces();
  service = await startService(traces.tracer, { min: warm, max: warm });
  return traces;
}

const create = {
  name: 'canary-name',
  env_vars: { SECRET: 'canary-variable' },
  labels: { team: 'canary-label' },
};
const command = {
  sandbox: 'canary-name',
  command: 'cat /canary/path',
  cwd: '/canary-folder',
  env: { TOKEN: 'canary-token' },
};

describe('the spans of a call', () => {
  it('lead from the request to the agent’s exec', async () => {
    const traces = await start();
    await service.call('Sandbox.CreateSandbox', create);
    expect((await service.call('Sandbox.RunCommand', command)).status).toBe(200);
    const shown = ['sandhaven.start', 'sandhaven.agent.received_bytes', 'sandhaven.outcome'];
    expect(treeOf(await traces.spans(), shown)).toEqual([
      'POST /v1/tools/:name sandhaven.outcome=ok',
      '  Sandbox.CreateSandbox sandhaven.outcome=ok',
      '    sandbox creating sandhaven.start=cold sandhaven.outcome=ok',
      '      runtime start sandhaven.outcome=ok',
      '      agent hello sandhaven.agent.received_bytes=0 sandhaven.outcome=ok',
      'POST /v1/tools/:name sandhaven.outcome=ok',
      '  Sandbox.RunCommand sandhaven.outcome=ok',
      '    agent exec sandhaven.agent.received_bytes=6 sandhaven.outcome=ok',
    ]);
  });

  it('show a sandbox of the warm pool, and its making as a trace of its own', async () => {
    const traces = await start(1);
    await expect.poll(async () => (await service.store.sandboxes.pool()).length).toBe(1);
    await service.call('Sandbox.CreateSandbox', create);
    const tree = treeOf(await traces.spans(), ['sandhaven.start']);
    expect(tree.slice(0, 3)).toEqual(['pool making', '  runtime start', '  agent hello']);
    expect(tree).toContain('    sandbox creating sandhaven.start=warm');
    expect(tree.filter((line) => line.endsWith('runtime start') && line.startsWith('      '))).toEqual([]);
  });

  it('show lifecycle operations, and the wait for the one before', async () => {
    const traces = await start();
    await service.call('Sandbox.CreateSandbox', create);
    await service.call('Sandbox.StopSandbox', { sandbox: 'canary-name' });
    const { reached, go } = service.hold();
    const starting = service.call('Sandbox.StartSandbox', { sandbox: 'canary-name' });
    await reached;
    const waiting = service.call('Sandbox.RunCommand', command);
    await expect.poll(() => traces.begun.includes('queue')).toBe(true);
    const stopping = service.call('Sandbox.StopSandbox', { sandbox: 'canary-name' });
    await expect.poll(() => traces.begun.filter((name) => name === 'queue').length).toBe(2);
    // The stop comes before the command, which waits until nothing else does.
    go();
    await Promise.all([starting, waiting, stopping]);
    expect(treeOf((await traces.spans()).slice(5))).toEqual([
      'POST /v1/tools/:name',
      '  Sandbox.StopSandbox',
      '    sandbox stopping',
      'POST /v1/tools/:name',
      '  Sandbox.StartSandbox',
      '    sandbox starting',
      '      runtime start',
      '      agent hello',
      'POST /v1/tools/:name',
      '  Sandbox.RunCommand',
      '    queue',
      'POST /v1/tools/:name',
      '  Sandbox.StopSandbox',
      '    queue',
      '    sandbox stopping',
    ]);
  });

  it('are those of MCP too', async () => {
    const traces = await start();
    const message = {
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: 'Sandbox_WhoAmI', arguments: {} },
    };
    const answer = await fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${API_KEY}`, 'content-type': 'application/json' },
        accept: 'application/json, text/event-stream',
      },
      body: JSON.stringify(message),
    });
    await answer.text();
    expect(treeOf(await traces.spans())).toEqual(['POST /mcp', '  Sandbox.WhoAmI']);
  });

  it('name a failure by its code, as the log names the trace', async () => {
    const traces = await start();
    await service.call('Sandbox.RunCommand', { ...command, sandbox: 'canary-missing' });
    await expect.poll(() => service.requests().length).toBe(1);
    const [request] = await traces.spans();
    expect(treeOf(await traces.spans(), ['sandhaven.outcome', 'http.response.status_code'])).toEqual([
      'POST /v1/tools/:name sandhaven.outcome=not_found http.response.status_code=404',
      '  Sandbox.RunCommand sandhaven.outcome=not_found',
    ]);
    expect(service.requests()[0]).toMatchObject({ trace_id: request?.spanContext().traceId });
  });

  it('hold nothing of the caller’s', async () => {
    const traces = await start();
    await service.call('Sandbox.CreateSandbox', create);
    await service.call('Sandbox.RunCommand', command);
    await service.call('Sandbox.RunCommand', { ...command, unknown: 'canary-parameter' });
    await service.call('Canary.NoSuchTool', {});
    const all = (await traces.spans()).map(({ name, attributes, events, links, status, resource }) => ({
      ...{ name, attributes, events, links, status, resource: resource.attributes },
    }));
    expect(all.length).toBeGreaterThan(8);
    expect(JSON.stringify(all)).not.toMatch(/canary/i);
    expect(all.flatMap(({ events, links }) => [...events, ...links])).toEqual([]);
  });
});
