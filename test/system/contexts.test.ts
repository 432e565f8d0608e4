/** Contexts of real sandboxes: death by memory, a stop, another service, a caller who leaves, and both SDK's way in. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Sandhaven } from '../../sdk/src/index.ts';
import { act, mustAct } from '../support/people.ts';
import { call, must, type Service, startService } from '../support/service.ts';

let service: Service;

beforeAll(async () => {
  service = await startService();
  await must(service, 'CreateSandbox', { name: 'box', memory_gb: 1, disk_gb: 1 });
}, 120_000);

afterAll(() => service?.stop());

const run = (code: string, more: object = {}) =>
  must(service, 'RunInContext', { sandbox: 'box', code, ...more });
const plain = ({ results }: Record<string, unknown>) =>
  (results as { data: Record<string, unknown> }[]).map(({ data }) => data['text/plain']);
const listed = async () => (await mustAct(service, 'ListContexts', { sandbox: 'box' }))['contexts'];

it('die alone when they exhaust the memory, say so, and are started anew', async () => {
  await run('x = 5', { context: 'other' });
  await mustAct(service, 'StartProcess', { sandbox: 'box', command: 'sleep 1000', tag: 'mine' });
  const died = await run('x = []\nwhile True: x.append(bytearray(8 << 20))', { context: 'hungry' });
  expect(died['ended']).toBe('The sandbox ran out of memory, and the kernel killed it.');
  expect(plain(await run('x', { context: 'other' }))).toEqual(['5']);
  const { processes } = await mustAct(service, 'ListProcesses', { sandbox: 'box' });
  expect(processes).toMatchObject([{ tag: 'mine', status: 'running' }]);
  expect(await call(service, 'RunInContext', { sandbox: 'box', code: '1', context: 'hungry' })).toMatchObject(
    {
      body: { code: 'failed_precondition', detail: expect.stringContaining('ran out of memory') },
    },
  );
  expect(plain(await run('1 + 1', { context: 'hungry', restart: true }))).toEqual(['2']);
}, 60_000);

it('keep their variables over another service, and end with a stop', async () => {
  await run('y = 7', { context: 'kept' });
  await service.restart();
  expect(plain(await run('y', { context: 'kept' }))).toEqual(['7']);
  await must(service, 'StopSandbox', { sandbox: 'box' });
  await must(service, 'StartSandbox', { sandbox: 'box' });
  expect(await listed()).toEqual([]);
  expect((await run('y', { context: 'kept' }))['error']).toMatchObject({ name: 'NameError' });
}, 60_000);

it('serve the SDK: output, results and charts as they come, interruption by who leaves, restart', async () => {
  const box = new Sandhaven({ url: service.url, apiKey: service.apiKey }).sandbox('box');
  await using context = await box.code.context({ language: 'python' });
  const printed: string[] = [];
  const shown: unknown[] = [];
  const { results, error } = await context.run('print("a")\ndisplay(1)\nprint("b")\n2', {
    onStdout: (text) => void printed.push(text),
    onDisplay: ({ data }) => void shown.push(data['text/plain']),
  });
  expect([printed.join(''), shown, results.length, error]).toEqual(['a\nb\n', ['1', '2'], 2, null]);
  const leaving = new AbortController();
  const running = context.run('z = 1\nwhile True: pass', { signal: leaving.signal });
  await expect
    .poll(async () => (await box.code.contexts.list()).find(({ busy }) => busy)?.context)
    .toBe(context.id);
  leaving.abort();
  await expect(running).rejects.toThrow();
  expect((await context.run('z')).results[0]?.data).toMatchObject({ 'text/plain': '1' });
  await context.restart();
  expect((await context.run('z')).error?.name).toBe('NameError');
  await context.delete();
  expect(await act(service, 'DeleteContext', { sandbox: 'box', context: context.id })).toMatchObject({
    status: 404,
  });
}, 60_000);
