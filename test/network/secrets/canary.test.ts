/**
 * A secret on its whole way, from a caller of the service to the host that it is for, and then a search for its value wherever
 * it may not be: inside as root sees it, and in what the service writes and shows. All in network namespaces.
 */
import { globSync, readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { found, foundInMemory, grep, pidsInside, read, shownBy } from '../../support/canaries/search.ts';
import { lookInside } from './look-inside.ts';
import { HOST, Stage } from './stage.ts';

const value = `canary-${'7f3a91c2e5'.repeat(3)}`;
const canary = { value, encoded: Buffer.from(value).toString('base64').slice(4, -4) };

let stage: Stage;
let sandbox: string;
let open: string;
/** By sandbox. */
const placeholders: Record<string, string> = {};
/** Requests that the server has got. */
const requests: { url: string; authorization: string | null }[] = [];

beforeAll(async () => {
  stage = await Stage.open();
  await startApi();
  await stage.startService();
  const given = { name: 'canary', value, targets: [`https://${HOST}`] };
  await must('/v1/admin/CreateSecret', given);
  const size = { cpu: 1, memory_gb: 1, disk_gb: 1, secrets: ['canary'] };
  const network = { allow: [`https://${HOST}`] };
  sandbox = String((await tool('CreateSandbox', { ...size, network }))['id']);
  open = String((await tool('CreateSandbox', size))['id']);
  for (const id of [sandbox, open]) placeholders[id] = await run(id, 'echo "$CANARY"');
}, 240_000);

afterAll(() => stage?.[Symbol.asyncDispose]());

describe('a request of a sandbox', () => {
  it.each([
    ['that holds the placeholder', 'curl -sS -H "Authorization: Bearer $CANARY" URL'],
    ['without any credentials', 'curl -sS URL'],
    ['by HTTP/1.1', 'curl -sS --http1.1 URL'],
    [
      'by Python’s requests',
      `python3 -c "import os, requests; print(requests.get('URL', headers={'Authorization': 'Bearer ' + os.environ['CANARY']}).text)"`,
    ],
    [
      'by Python’s urllib',
      `python3 -c "import urllib.request as r; print(r.urlopen('URL').read().decode())"`,
    ],
    ['by Node’s fetch', `node -e "fetch('URL').then((r) => r.text()).then(console.log)"`],
    ['by wget', 'wget -qO- URL'],
  ])('%s reaches the host with the value, and the answer is without it', async (name, command) => {
    const path = `/${name.replaceAll(/\W+/g, '-')}`;
    const seen = requests.length;
    const answer = await run(sandbox, command.replaceAll('URL', `https://${HOST}${path}`));
    expect(requests.slice(seen)).toEqual([{ url: path, authorization: `Bearer ${value}` }]);
    expect(JSON.parse(answer)['authorization']).toBe(`Bearer ${'*'.repeat(value.length)}`);
  });

  it('with an open network reaches the host with the value, too', async () => {
    const answer = JSON.parse(await run(open, `curl -sS https://${HOST}/open`));
    expect(requests.at(-1)).toEqual({ url: '/open', authorization: `Bearer ${value}` });
    expect(answer['authorization']).toBe(`Bearer ${'*'.repeat(value.length)}`);
  });

  it('has a placeholder inside, another one in each sandbox', () => {
    for (const id of [sandbox, open]) expect(placeholders[id]).toMatch(/^sandhaven-secret-[0-9a-f]{32}$/);
    expect(placeholders[open]).not.toBe(placeholders[sandbox]);
  });
});

describe('the value', () => {
  it('is with no process inside, in arguments, environment or memory, the agent’s included', async () => {
    await run(sandbox, 'sleep 600 >/dev/null 2>&1 & curl -sS -i https://public.test/left > /root/answer');
    for (const id of [sandbox, open]) {
      const processes = pidsInside(id);
      expect(processes.length).toBeGreaterThan(0);
      for (const pid of processes) {
        expect(found(shownBy(pid), canary), `shown by ${pid}`).toEqual([]);
        expect(foundInMemory(pid, canary), `memory of ${pid}`).toEqual([]);
      }
    }
    // The search does find what is there.
    const own = pidsInside(sandbox).flatMap((pid) =>
      foundInMemory(pid, { placeholder: placeholders[sandbox] ?? '' }),
    );
    expect(own).toContain('placeholder');
  });

  it('is found by nobody who looks as root inside, in files and in /proc', async () => {
    const runThere = (command: string) => run(sandbox, command);
    const { looked, places } = await lookInside(runThere, value);
    expect(looked).toBeGreaterThan(100);
    expect(places).toEqual([]);
    // The search does find what is there: a file, and the environment of programs.
    await run(sandbox, `echo "$CANARY" > /root/placeholder`);
    expect((await lookInside(runThere, placeholders[sandbox] ?? '')).places).toContain('/root/placeholder');
  });

  it('is in nothing that the service has written, but sealed', async () => {
    await run(sandbox, 'sync');
    const { service, folder } = stage;
    const instance = readFileSync(join(service.dataDir, 'instance'), 'utf8').trim();
    const patterns = join(folder, 'patterns');
    writeFileSync(patterns, Object.values(canary).join('\n'));
    const search = ['--recursive', '--text', '--fixed-strings', '--files-with-matches', '--file', patterns];
    // The pool and images are as they were before the secret, one disk stands for both, and namespaces are pinned as files that nobody reads.
    const skip = ['pool', 'images', open].map((name) => `--exclude-dir=${name}`);
    const pins = ['net', 'user'].map((name) => `--exclude=${name}`);
    expect(
      grep([...search, ...skip, ...pins, '--devices=skip', service.dataDir, `/run/sandhaven-${instance}`]),
    ).toBe('');
    expect(found(Buffer.from(service.log()), canary)).toEqual([]);
  });

  it('is in no arguments and no environment of a program of the host', () => {
    const shown = globSync('/proc/[0-9]*').filter((pid) =>
      ['cmdline', 'environ'].some((name) => found(read(join(pid, name)), canary).length > 0),
    );
    expect(shown).toEqual([]);
  });

  it('is in no answer of the service', async () => {
    const answers = [
      await must('/v1/admin/ListSecrets', {}),
      await must('/v1/admin/ListAudit', {}),
      await tool('GetSandbox', { sandbox }),
      await tool('ListSandboxes', {}),
    ];
    expect(found(Buffer.from(JSON.stringify(answers)), canary)).toEqual([]);
  });
});

describe('the secret', () => {
  const authorizationOf = async (id: string, flags = '') => {
    const seen = requests.length;
    await run(
      id,
      `curl -sS --max-time 5 ${flags} -H "Authorization: Bearer ${placeholders[id]}" https://${HOST}/again`,
    );
    return requests.slice(seen)[0]?.authorization ?? null;
  };

  it('goes on after the end of the egress program', async () => {
    process.kill(egressPid(), 'SIGKILL');
    for (const id of [sandbox, open]) {
      await expect.poll(() => authorizationOf(id)).toBe(`Bearer ${value}`);
    }
  });

  it('goes on after the service was killed, and never leaves as a placeholder meanwhile', async () => {
    const seen = requests.length;
    await stage.service.kill();
    for (const id of [sandbox, open]) expect(pidsInside(id).length).toBeGreaterThan(0);
    await stage.service.restart();
    for (const id of [sandbox, open]) {
      await expect.poll(() => authorizationOf(id)).toBe(`Bearer ${value}`);
    }
    expect(requests.slice(seen).filter(({ authorization }) => authorization !== `Bearer ${value}`)).toEqual(
      [],
    );
  });

  it('that is replaced is replaced at once, and one that is taken away leaves the placeholder', async () => {
    const other = value.replaceAll('7', '8');
    await must('/v1/admin/RotateSecret', { secret: 'canary', value: other });
    for (const id of [sandbox, open]) expect(await authorizationOf(id)).toBe(`Bearer ${other}`);
    for (const id of [sandbox, open]) await must('/v1/admin/TakeSecret', { sandbox: id, secret: 'canary' });
    // The host itself answers now, whom nobody inside knows.
    for (const id of [sandbox, open]) {
      expect(await authorizationOf(id)).toBeNull();
      expect(await authorizationOf(id, '--insecure')).toBe(`Bearer ${placeholders[id]}`);
    }
  });
});

/** Notes the requests that the API gets. */
async function startApi(): Promise<void> {
  const api = await stage.startServer('api.ts');
  createInterface({ input: api.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    requests.push(JSON.parse(line));
  });
}

const must = (path: string, parameters: object) => stage.must(path, parameters);
const tool = (name: string, parameters: object) => stage.tool(name, parameters);
const run = (id: string, command: string) => stage.run(id, command);

/** Finds the one that the service has started. */
function egressPid(): number {
  const isOurs = (pid: string) =>
    readlinkSync(`/proc/${pid}/exe`).endsWith('/sandhaven-egress') &&
    readlinkSync(`/proc/${pid}/ns/net`) === readlinkSync(`/proc/${stage.service.pid}/ns/net`);
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (isOurs(pid)) return Number(pid);
    } catch {
      // It has ended.
    }
  }
  throw new Error('no egress program runs');
}
