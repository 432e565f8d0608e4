/**
 * A secret on its whole way, from a caller of the service to the host that it is for, and then a search for its value wherever
 * it may not be: inside as root sees it, and in what the service writes and shows. All in network namespaces.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  globSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeAuthority } from '../../../src/agent-link/tls/authority.ts';
import { parseResolvConf } from '../../../src/runtime/oci/network/dns/resolv-conf.ts';
import { found, foundInMemory, grep, pidsInside, read, shownBy } from '../../support/canaries/search.ts';
import { bin, type Service, startService, wholeName } from '../../support/service.ts';
import { createTestHost, type TestHost } from '../harness.ts';
import { signLeaf } from './leaf.ts';

const value = `canary-${'7f3a91c2e5'.repeat(3)}`;
const HOST = 'public.test';
const canary = { value, encoded: Buffer.from(value).toString('base64').slice(4, -4) };

let host: TestHost;
let service: Service;
let folder: string;
let sandbox: string;
let open: string;
/** By sandbox. */
const placeholders: Record<string, string> = {};
const servers: ChildProcess[] = [];
/** Requests that the server has got. */
const requests: { url: string; authorization: string | null }[] = [];

beforeAll(async () => {
  host = await createTestHost();
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-canary-'));
  await startInternet();
  service = await startServiceInside();
  const given = { name: 'canary', value, targets: [`https://${HOST}`] };
  await must('/v1/admin/CreateSecret', given);
  const size = { cpu: 1, memory_gb: 1, disk_gb: 1, secrets: ['canary'] };
  const network = { allow: [`https://${HOST}`] };
  sandbox = String((await tool('CreateSandbox', { ...size, network }))['id']);
  open = String((await tool('CreateSandbox', size))['id']);
  for (const id of [sandbox, open]) placeholders[id] = await run(id, 'echo "$CANARY"');
}, 240_000);

afterAll(async () => {
  if (service) {
    await service.terminate();
    const purge = spawn(join(folder, 'sandhaven'), ['purge', '--data-dir', service.dataDir, '--yes']);
    await once(purge, 'exit');
    rmSync(service.dataDir, { recursive: true, force: true });
  }
  for (const server of servers) server.kill('SIGKILL');
  await host?.[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

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
    const backwards = [...value].reverse().join('');
    const script = `python3 - ${backwards} <<'EOF'\n${lookCode}\nEOF`;
    const { looked, places } = JSON.parse(await run(sandbox, script));
    expect(looked).toBeGreaterThan(100);
    expect(places).toEqual([]);
    // The search does find what is there: a file, and the environment of programs.
    const other = script.replace(backwards, [...(placeholders[sandbox] ?? '')].reverse().join(''));
    await run(sandbox, `echo "$CANARY" > /root/placeholder`);
    expect(JSON.parse(await run(sandbox, other)).places).toContain('/root/placeholder');
  });

  it('is in nothing that the service has written, but sealed', async () => {
    await run(sandbox, 'sync');
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
    await service.kill();
    for (const id of [sandbox, open]) expect(pidsInside(id).length).toBeGreaterThan(0);
    await service.restart();
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

/** A resolver where this host looks for one, and the API, outside. */
async function startInternet(): Promise<void> {
  const authority = makeAuthority('test', Date.now());
  const { key, cert } = signLeaf(authority, HOST);
  for (const [name, text] of Object.entries({
    'ca.pem': authority.certificate,
    'key.pem': key,
    'cert.pem': cert,
  })) {
    writeFileSync(join(folder, name), text);
  }
  const [resolver = ''] = parseResolvConf(readFileSync('/etc/resolv.conf', 'utf8'));
  await host.outside.run('ip', 'address', 'add', `${resolver}/32`, 'dev', 'lo');
  await startOutside('../upstream.ts', resolver, 'test');
  const api = await startOutside('api.ts', join(folder, 'key.pem'), join(folder, 'cert.pem'));
  createInterface({ input: api.stdout as NodeJS.ReadableStream }).on('line', (line) => {
    requests.push(JSON.parse(line));
  });
}

async function startOutside(program: string, ...args: string[]): Promise<ChildProcess> {
  const command = [process.execPath, join(import.meta.dirname, program), ...args];
  const server = spawn('nsenter', [`--net=${host.outside.path}`, ...command]);
  servers.push(server);
  await once(server.stdout, 'data');
  return server;
}

/** The service with its machines, in the network of the test's host. */
function startServiceInside(): Promise<Service> {
  const program = join(folder, 'sandhaven');
  writeFileSync(program, `#!/bin/sh\nexec nsenter --net=${host.path} ${bin} "$@"\n`, { mode: 0o755 });
  const dataDir = mkdtempSync(join(tmpdir(), 'sandhaven-test-'));
  return startService({ program, dataDir, env: { SSL_CERT_FILE: join(folder, 'ca.pem') } });
}

/** A call from the network of the test's host, where the service listens. */
async function must(path: string, parameters: object): Promise<Record<string, unknown>> {
  const code = `const [url, key, body] = process.argv.slice(1);
    const headers = { authorization: 'Bearer ' + key, 'content-type': 'application/json' };
    fetch(url, { method: 'POST', headers, body }).then((r) => r.text()).then(console.log);`;
  const { url, apiKey } = service;
  const answer = JSON.parse(await host.node(code, `${url}${path}`, apiKey, JSON.stringify(parameters)));
  if (answer.status >= 400) throw new Error(`${path}: ${JSON.stringify(answer)}`);
  return answer;
}

const tool = (name: string, parameters: object) => must(`/v1/tools/${wholeName(name)}`, parameters);

async function run(id: string, command: string): Promise<string> {
  const { output } = await tool('RunCommand', { sandbox: id, command });
  return String(output).trim();
}

/** Finds the one that the service has started. */
function egressPid(): number {
  const isOurs = (pid: string) =>
    readlinkSync(`/proc/${pid}/exe`).endsWith('/sandhaven-egress') &&
    readlinkSync(`/proc/${pid}/ns/net`) === readlinkSync(`/proc/${service.pid}/ns/net`);
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
    try {
      if (isOurs(pid)) return Number(pid);
    } catch {
      // It has ended.
    }
  }
  throw new Error('no egress program runs');
}

/** Looks for a text that it is given backwards, so that its own memory does not have it. */
const lookCode = `
import json, os, re, sys
needle = sys.argv[1].encode()
looked, places = 0, []
def look(place, data):
    global looked
    looked += 1
    if needle in data[::-1]:
        places.append(place)
begun = os.stat("/proc/1").st_ctime - 60
def at(place):
    try:
        # Files of the image are as they were made before the secret.
        if os.path.islink(place) or not os.path.isfile(place) or os.stat(place).st_ctime < begun:
            return
        with open(place, "rb") as file:
            look(place, file.read(64 << 20))
    except OSError:
        pass
for folder, folders, files in os.walk("/"):
    if folder == "/":
        folders[:] = [name for name in folders if name not in ("proc", "sys", "dev")]
    for name in files:
        at(os.path.join(folder, name))
for pid in filter(str.isdigit, os.listdir("/proc")):
    for name in ("environ", "cmdline"):
        at(f"/proc/{pid}/{name}")
    try:
        maps = open(f"/proc/{pid}/maps").read()
        memory = open(f"/proc/{pid}/mem", "rb", 0)
    except OSError:
        continue
    for start, end in re.findall(r"^([0-9a-f]+)-([0-9a-f]+) r", maps, re.M):
        try:
            memory.seek(int(start, 16))
            look(f"memory of {pid}", memory.read(min(int(end, 16) - int(start, 16), 64 << 20)))
        except (OSError, ValueError, OverflowError):
            pass
print(json.dumps({"looked": looked, "places": places}))
`;
