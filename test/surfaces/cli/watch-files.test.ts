/** `sandhaven files watch`: changes as they come, over several connections, until the folder is gone. */
import { afterEach, beforeEach, expect, it } from 'vitest';
import { broken, events, problem, ScriptedService } from '../../../sdk/test/scripted-service.ts';
import { cliFor } from './cli-harness.ts';

let service: ScriptedService;
let cli: ReturnType<typeof cliFor>;

beforeEach(async () => {
  service = new ScriptedService();
  await service.listen();
  cli = cliFor(service.url);
});

afterEach(() => service.close());

const WATCH = ['files', 'watch', 'my box'];
const asked = () => service.asked.map(({ path }) => path);

const event = (name: string, data: object) => `event: ${name}\ndata: ${JSON.stringify(data)}\n\n`;
const begin = event('begin', {});
const changes = (...list: object[]) => event('changes', { changes: list });
const created = (path: string, folder = false) => ({ type: 'created', path, folder });
const gone = event('result', { gone: true });
const fault = (code: string, status: number) =>
  event('error', { code, status, title: code, detail: 'It is so.' });

it('prints each change as a line, with a slash behind folders', async () => {
  const renamed = { type: 'renamed', path: 'src/b', from: 'src/a', folder: true };
  service.answers(
    events(begin, changes(created('src/a', true), created('src/\u001b[2J')), changes(renamed), gone),
  );
  expect(await cli([...WATCH, 'src', '--recursive', '--user', 'ann'])).toEqual({
    code: 0,
    stdout: 'created     src/a/\ncreated     src/\\x1b[2J\nrenamed     src/a/ -> src/b/\n',
    stderr: 'The folder is gone.\n',
  });
  expect(asked()).toEqual(['/v1/sandboxes/my%20box/files/watch?path=src&recursive=true&user=ann']);
});

it('prints changes as lines of JSON with --json', async () => {
  service.answers(events(begin, changes(created('a'), { type: 'overflow' }), gone));
  const { stdout } = await cli([...WATCH, '--json']);
  expect(stdout).toBe('{"type":"created","path":"a","folder":false}\n{"type":"overflow"}\n');
  expect(asked()).toEqual(['/v1/sandboxes/my%20box/files/watch?path=.&recursive=false']);
});

it('goes on after a break and a restart of the service, and says that changes were missed', async () => {
  service.answers(
    events(begin, changes(created('a')), changes(created('lost')).slice(0, -9)),
    broken,
    events(begin, changes(created('b')), fault('unavailable', 503)),
    events(begin, gone),
  );
  expect(await cli(WATCH)).toMatchObject({
    code: 0,
    stdout: 'created     a\noverflow\ncreated     b\noverflow\n',
  });
});

it('ends with the problem that there is, before it has begun also where nobody answers', async () => {
  service.answers(problem('not_found', 404), events(begin, fault('resource_exhausted', 429)), broken);
  expect(await cli(WATCH)).toMatchObject({ code: 4, stderr: expect.stringContaining('It is not_found.') });
  expect(await cli(WATCH)).toMatchObject({ code: 6, stderr: expect.stringContaining('It is so.') });
  expect(await cli(WATCH)).toMatchObject({ code: 7 });
  expect(service.asked).toHaveLength(3);
});

it('ends at an interrupt', async () => {
  const interrupt = new AbortController();
  const left = Promise.withResolvers<void>();
  service.answers((response) => {
    response.once('close', left.resolve).writeHead(200, { 'content-type': 'text/event-stream' });
    response.write(begin + changes(created('a')));
  });
  expect(await cli(WATCH, { signal: interrupt.signal, printed: () => interrupt.abort() })).toEqual({
    ...{ code: 130, stdout: 'created     a\n', stderr: '' },
  });
  await left.promise;
});

it('needs a sandbox, takes one folder, and stands in the help of its group', async () => {
  expect(await cli(['files', 'watch'])).toMatchObject({ code: 2 });
  expect(await cli([...WATCH, 'a', 'b'])).toMatchObject({ code: 2 });
  expect(service.asked).toEqual([]);
  expect((await cli(['files', '--help'])).stdout).toMatch(/^ {2}sandhaven files watch /m);
  expect((await cli([...WATCH, '--help'])).stdout).toMatch(/^Usage: sandhaven files watch SANDBOX \[PATH\]/);
});
