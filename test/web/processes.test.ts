/** The processes of a sandbox in the built page, in Chromium, over processes that a test carries out. */
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { SandhavenError } from '../../src/model/errors.ts';
import { type FakeProcessView, fakeProcesses } from '../surfaces/fakes/fake-processes.ts';
import { type Opened, openPage } from './support/open-page.ts';
import type { Visitor } from './support/visitor.ts';

const views: FakeProcessView[] = [];
const processes = fakeProcesses((view) => {
  views.push(view);
  // The first bytes of the output are forgotten.
  view.sink.begun(Math.max(view.from ?? 0, 4_096));
});
let opened: Opened;
let visitor: Visitor;

beforeAll(async () => {
  opened = await openPage(0);
  visitor = opened.visitor;
  Object.assign(opened.world.services, { processes });
}, 60_000);

afterAll(() => opened?.close());

afterEach(() => {
  expect(visitor.faults.splice(0)).toEqual([]);
});

const last = () => views.at(-1) as FakeProcessView;
const print = (text: string, stream: 'stdout' | 'stderr' = 'stdout') =>
  last().sink.show({ stream, bytes: Buffer.from(text), leftOutBytes: 0 });
const shown = () => visitor.page.$eval('[aria-label="Output of the process"]', (box) => box.textContent);
const has = (name: string) => visitor.page.$(`::-p-aria([name="${name}"])`).then((found) => found !== null);

describe('the processes of a sandbox', () => {
  it('are listed with what became of them', async () => {
    await visitor.go(`/sandboxes/${opened.demo}/processes`);
    for (const text of [
      'web: make serve',
      'running',
      '8: make serve',
      'timed out',
      '1 viewer',
      '12 B of output',
    ])
      await visitor.sees(text);
    expect(await visitor.broken()).toEqual([]);
  });

  it('are started, and followed from the oldest byte that is kept', async () => {
    await visitor.fill('Command', 'make');
    await visitor.fill('Tag', 'web');
    await visitor.click('Start');
    await visitor.sees('Nothing is printed yet.');
    expect(processes.calls.splice(0)).toMatchObject([['start', { timeoutMs: 86_400_000 }]]);
    await expect.poll(() => views).toMatchObject([{ process: '7', from: 0 }]);
    print('<b>out</b>\n');
    print('err\n', 'stderr');
    await visitor.sees('4 KB of earlier output are forgotten.');
    await expect.poll(shown).toBe('<b>out</b>\nerr\n');
    expect(await visitor.broken()).toEqual([]);
    await visitor.page.locator('label ::-p-text(stderr)').click();
    await expect.poll(shown).toBe('err\n');
    await visitor.page.locator('label ::-p-text(Both)').click();
  });

  it('are followed from the position reached, after a connection broke', async () => {
    last().end.reject(new SandhavenError('unavailable', 'The service is stopping.'));
    await expect.poll(() => views.map(({ from }) => from)).toEqual([0, 4_096 + 15]);
    print('more\n');
    await expect.poll(shown).toBe('<b>out</b>\nerr\nmore\n');
  });

  it('stay where somebody reads, until they come back to the end', async () => {
    const box = '[aria-label="Output of the process"]';
    const toEnd = () => visitor.page.$eval(box, (one) => one.scrollHeight - one.scrollTop - one.clientHeight);
    print('line\n'.repeat(100));
    await visitor.sees('line');
    await expect.poll(toEnd).toBe(0);
    await visitor.page.$eval(box, (one) => one.scrollTo(0, 100));
    print('next\n'.repeat(100));
    await visitor.sees('next');
    expect(await visitor.page.$eval(box, (one) => one.scrollTop)).toBe(100);
    await visitor.page.$eval(box, (one) => one.scrollTo(0, one.scrollHeight));
    print('last\n'.repeat(100));
    await visitor.sees('last');
    await expect.poll(toEnd).toBe(0);
  });

  it('take lines of input, its end, and signals', async () => {
    await visitor.fill('Line of input', 'go');
    await visitor.click('Send');
    await expect.poll(() => processes.calls).toHaveLength(1);
    await visitor.click('Close input');
    await expect.poll(() => processes.calls).toHaveLength(2);
    await visitor.click('Signal');
    await visitor.sees('KILL');
    expect(await visitor.broken()).toEqual([]);
    await visitor.click('HUP');
    await visitor.sees('HUP was sent');
    expect(processes.calls.splice(0)).toEqual([
      ['write', { process: '7', close: false }, Buffer.from('go\n').toString('hex')],
      ['write', { process: '7', close: true }, ''],
      ['signal', '7', 'HUP'],
    ]);
  });

  it('are ended after a question', async () => {
    await visitor.click('End');
    await visitor.sees('All that it has started is killed with it. Its output is forgotten.');
    expect(processes.calls).toEqual([]);
    await visitor.click('End the process');
    await expect.poll(() => processes.calls.splice(0)).toEqual([['end', '7']]);
    last().end.resolve({ exitCode: 3, signal: null, timedOut: false });
    await visitor.sees('exit 3');
    expect(await has('Line of input')).toBe(false);
  });

  it('show why one could not be started', async () => {
    await visitor.go(`/sandboxes/${opened.demo}/processes`);
    await visitor.fill('Command', 'make');
    await visitor.fill('Tag', '7up');
    await visitor.click('Start');
    await visitor.sees('Not started');
    await visitor.sees('must be a letter, then up to 63 letters, digits, _ or -');
  });
});
