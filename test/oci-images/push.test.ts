/** `sandhaven images push`, against a real registry with and without an account. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeOciImage } from '../../setup/images/oci-images.ts';
import { type Registry, startRegistry } from '../images/registry/registry.ts';
import { readLayout } from './layout.ts';

const account = { username: 'robot', password: 'pass:word with spaces' };

let work: string;
let open: Registry;
let closed: Registry;
let digest: string;

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'sandhaven-push-'));
  await makeOciImage('sandhaven-agent', work);
  digest = readLayout(join(work, 'sandhaven-agent.oci')).index.manifests[0]?.digest ?? '';
  [open, closed] = await Promise.all([startRegistry(), startRegistry(account)]);
});

afterAll(async () => {
  await Promise.all([open?.remove(), closed?.remove()]);
  await rm(work, { recursive: true, force: true });
});

describe('a push', () => {
  it('brings the image to the registry as it is, and the second time sends nothing', async () => {
    const target = `${open.address}/team/tools`;
    const first = await push([target, '--tag', 'v1', '--json', '--plain-http']);
    expect(first.stderr).toBe('');
    const name = `${target}/sandhaven-agent`;
    const blobs = { blobs_sent: 2, blobs_there: 0 };
    expect(JSON.parse(first.stdout).images).toEqual([
      expect.objectContaining({ reference: `${name}:v1`, pinned: `${name}@${digest}`, digest, ...blobs }),
    ]);
    const second = JSON.parse((await push([target, '--tag', 'v1', '--json', '--plain-http'])).stdout);
    expect(second.images[0]).toMatchObject({ bytes_sent: 0, blobs_sent: 0, blobs_there: 2 });

    const pulled = join(work, 'pulled');
    const source = `docker://${name}@${digest}`;
    execFileSync('skopeo', ['copy', '--quiet', '--src-tls-verify=false', source, `dir:${pulled}`]);
    const { manifest } = readLayout(join(work, 'sandhaven-agent.oci'));
    expect(JSON.parse(readFileSync(join(pulled, 'manifest.json'), 'utf8'))).toEqual(manifest);
  });

  it('prints the image by its digest', async () => {
    const { stdout } = await push([open.address, '--plain-http']);
    expect(stdout).toBe(`${open.address}/sandhaven-agent@${digest}\n`);
  });

  it('takes a password from standard input or the environment', async () => {
    const given = [closed.address, '--plain-http', '--username', account.username];
    const typed = await push([...given, '--password-stdin'], { input: `${account.password}\n` });
    expect(typed).toMatchObject({ status: 0, stderr: '' });
    const env = { REGISTRY_PASSWORD: account.password };
    expect(await push([...given, '--password-env', 'REGISTRY_PASSWORD'], { env })).toMatchObject({
      status: 0,
    });
  });

  it('takes the account that Docker’s file has for the registry, and no other', async () => {
    const config = join(work, 'docker');
    mkdirSync(config, { recursive: true });
    const auth = Buffer.from(`${account.username}:${account.password}`).toString('base64');
    const env = { DOCKER_CONFIG: config };
    const target = [closed.address, '--plain-http'];
    writeFileSync(join(config, 'config.json'), JSON.stringify({ auths: { [closed.address]: { auth } } }));
    expect(await push(target, { env })).toMatchObject({ status: 0 });
    writeFileSync(join(config, 'config.json'), JSON.stringify({ auths: { 'other.example': { auth } } }));
    expect(await push(target, { env })).toMatchObject({ status: 3 });
    const helpers = { credHelpers: { [closed.address]: 'pass' } };
    writeFileSync(join(config, 'config.json'), JSON.stringify(helpers));
    const refused = await push(target, { env });
    expect(refused).toMatchObject({ status: 5 });
    expect(refused.stderr).toContain('to another program');
  });

  it('shows no password when the registry refuses it', async () => {
    const given = [closed.address, '--plain-http', '--username', 'robot', '--password-stdin'];
    const { status, stdout, stderr } = await push(given, { input: 'wrong-secret' });
    expect(status).toBe(3);
    expect(stderr).toContain('refuses the push (status 401)');
    expect(stdout + stderr).not.toContain('wrong-secret');
  });

  it('sends nothing of a layout that is damaged', async () => {
    const damaged = join(work, 'damaged');
    cpSync(join(work, 'sandhaven-agent.oci'), join(damaged, 'sandhaven-agent.oci'), { recursive: true });
    const [layer] = readLayout(join(work, 'sandhaven-agent.oci')).manifest.layers;
    rmSync(join(damaged, 'sandhaven-agent.oci/blobs/sha256', (layer?.digest ?? '').slice(7)));
    const refused = await push([`${open.address}/damaged`, '--plain-http', '--from', damaged]);
    expect(refused).toMatchObject({ status: 5 });
    expect(refused.stderr).toContain('a layer is missing');
    const there = await fetch(`http://${open.address}/v2/damaged/sandhaven-agent/tags/list`);
    expect(there.status).toBe(404);
  });

  it.each([
    [['push'], 'The command is'],
    [['pull', 'registry.example'], 'The command is'],
    [['push', 'no-registry/team'], "'no-registry' is not a registry's name"],
    [['push', 'registry.example', '--tag', 'a b'], "'a b' is not a tag"],
    [['push', 'registry.example', '--only', 'other'], "There is no image 'other'"],
    [['push', 'registry.example', '--password-stdin'], '--username is missing'],
    [['push', 'registry.example', '--username', 'a'], 'The password is missing'],
    [['push', 'registry.example', '--password', 'a'], 'There is no flag --password'],
  ])('refuses %j before anything is sent', async (argv, why) => {
    const refused = await sandhaven(['images', ...argv]);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toContain(why);
  });

  it('asks for --plain-http where a registry has no TLS', async () => {
    const refused = await push([open.address]);
    expect(refused.status).toBe(7);
    expect(refused.stderr).toContain('--plain-http is for a registry without TLS');
  });
});

interface Given {
  input?: string;
  env?: Record<string, string>;
}

function push(argv: string[], given?: Given) {
  const from = argv.includes('--from') ? [] : ['--from', work];
  return sandhaven(['images', 'push', '--only', 'sandhaven-agent', ...from, ...argv], given);
}

async function sandhaven(argv: string[], { input = '', env = {} }: Given = {}) {
  const program = join(import.meta.dirname, '../../bin/sandhaven');
  const own = { ...process.env, DOCKER_CONFIG: join(work, 'none'), ...env };
  const child = spawn(program, argv, { env: own, stdio: 'pipe' });
  child.stdin.end(input);
  const ended = new Promise<number | null>((resolve) => child.once('close', resolve));
  const [stdout, stderr, status] = await Promise.all([text(child.stdout), text(child.stderr), ended]);
  return { stdout, stderr, status };
}
