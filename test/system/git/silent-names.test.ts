/**
 * Names that never resolve, beside the work of others: a real service on a host whose name server answers for one name and is
 * silent about the rest, as the name servers of a stranger's domain may be.
 */
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { type NameServer, startNameServer } from '../../outbound/name-server.ts';
import { type GitServer, startGitServer } from '../../support/git-server.ts';
import { type Person, person } from '../../support/people.ts';
import { bin, call, must, type Service, startService } from '../../support/service.ts';

/** Resolvers ask at port 53 alone; this address is nobody's on loopback. */
const NAME_SERVER = '127.53.36.6';
const user = { username: 'ada', password: 'canary-5f0c' };
/** It takes 0.2 s on an idle machine. The system's lookup took 10 s for each two silent names. */
const MOST_MS = 5_000;

let folder: string;
let names: NameServer;
let remote: GitServer;
let service: Service;
let mallory: Person;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-names-'));
  names = await startNameServer((name) => (name === 'git.example' ? { a: ['127.0.0.1'] } : undefined), {
    ...{ address: NAME_SERVER, port: 53 },
  });
  remote = await startGitServer(user);
  service = await startService({ program: withNameServer() });
  await must(service, 'CreateSandbox', { name: 'box' });
  mallory = await person(service, 'Mallory');
  await must(mallory, 'CreateSandbox', { name: 'hers' });
}, 180_000);

afterAll(async () => {
  await service?.stop();
  await remote?.close();
  await names?.close();
  rmSync(folder, { recursive: true, force: true });
});

beforeEach(() => {
  names.asked.length = 0;
});

/** A program that runs the service with a resolv.conf of its own. */
function withNameServer(): string {
  const file = join(folder, 'resolv.conf');
  const program = join(folder, 'sandhaven');
  writeFileSync(file, `nameserver ${NAME_SERVER}\n`);
  const inside = `mount --bind ${file} /etc/resolv.conf && exec ${bin} "$@"`;
  writeFileSync(program, `#!/bin/sh\nexec unshare --mount --propagation slave sh -c '${inside}' sh "$@"\n`);
  chmodSync(program, 0o755);
  return program;
}

let clones = 0;
/** Time of a clone by ada, whose remote is found by its name. */
async function cloneMs(): Promise<number> {
  const name = `project-${++clones}`;
  remote.create(name, { a: 'a\n' });
  const begun = performance.now();
  const url = `http://git.example:${remote.port}/${name}.git`;
  await must(service, 'GitClone', { sandbox: 'box', url, path: name, ...user });
  return performance.now() - begun;
}

/** Asks for authorization as a client that describes itself at a host which nobody finds. */
function authorizing(at: number): Promise<number> {
  const query = new URLSearchParams({
    client_id: `https://n${at}.slow.example/c.json`,
    redirect_uri: 'https://app.example/callback',
    response_type: 'code',
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
    resource: `${service.url}/mcp`,
  });
  return fetch(`${service.url}/oauth/authorize?${query}`, { redirect: 'manual' }).then(
    ({ status }) => status,
  );
}

const silentNames = () => new Set(names.asked.filter((name) => name.endsWith('.slow.example'))).size;

describe('a clone is not held up', () => {
  it.each([4, 20])(
    'while a stranger names %i hosts that no name server answers for',
    async (count) => {
      const asked = Promise.all(Array.from({ length: count }, (_, at) => authorizing(at)));
      await vi.waitFor(() => expect(silentNames()).toBeGreaterThan(0));
      expect(await cloneMs()).toBeLessThan(MOST_MS);
      expect((await asked).filter((status) => status < 400)).toEqual([]);
    },
    120_000,
  );

  it('while a member clones from hosts that no name server answers for', async () => {
    const cloning = Promise.all(
      Array.from({ length: 4 }, (_, at) =>
        call(mallory, 'GitClone', {
          ...{ sandbox: 'hers', url: `http://m${at}.slow.example/a.git`, path: `m${at}`, ...user },
        }),
      ),
    );
    await vi.waitFor(() => expect(silentNames()).toBeGreaterThan(0));
    expect(await cloneMs()).toBeLessThan(MOST_MS);
    const answers = await cloning;
    expect(answers.map(({ body }) => [body['code'], body['detail']])).toEqual(
      [0, 1, 2, 3].map((at) => ['unavailable', `No name server answers for m${at}.slow.example.`]),
    );
  }, 120_000);
});
