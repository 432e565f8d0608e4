import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createNetServer } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { must } from '../../support/service.ts';
import { type SharedService, sharedService } from '../../support/shared-service.ts';
import { type Access, accessTo, eventually, inside, makeSandbox, SshClient } from './client.ts';

let service: SharedService;
let sandbox: string;
let client: SshClient;
let access: Access;

beforeAll(async () => {
  service = await sharedService();
  client = new SshClient();
  sandbox = await makeSandbox(service);
  access = await accessTo(service, sandbox);
}, 120_000);

afterAll(async () => {
  client?.[Symbol.dispose]();
  await service?.stop();
}, 60_000);

describe('files', () => {
  it.each([
    ['over sftp', []],
    ['over the old protocol', ['-O']],
  ])('[WIRE-SSH-03] scp copies both ways, %s', async (_, flags) => {
    const [up, down] = ['up', 'down'].map((name) => join(client.folder, name)) as [string, string];
    writeFileSync(up, randomBytes(3_000_000));
    const options = [...flags, ...client.options(access, ['-o', 'BatchMode=yes']), '-P', `${access.port}`];
    const remote = `${access.access_token}@${access.host}:copied`;
    expect(await client.run('scp', [...options, up, remote])).toMatchObject({ code: 0, stderr: '' });
    expect(await client.run('scp', [...options, remote, down])).toMatchObject({ code: 0, stderr: '' });
    expect(readFileSync(down).equals(readFileSync(up))).toBe(true);
  });

  it('[WIRE-SSH-03] sftp works through a batch', async () => {
    writeFileSync(join(client.folder, 'sent'), 'content\n');
    const batch = ['mkdir d', 'put sent d/x', 'chmod 600 d/x', 'rename d/x d/y', 'ls -l d', 'get d/y back'];
    const options = client.options(access, ['-o', 'BatchMode=yes']);
    const args = [...options, '-b', '-', '-P', `${access.port}`, `${access.access_token}@${access.host}`];
    const lines = [`lcd ${client.folder}`, ...batch, 'rm d/y', 'rmdir d', 'bye'];
    const ran = await client.run('sftp', args, { input: `${lines.join('\n')}\n` });
    expect(ran.code, ran.stderr).toBe(0);
    expect(ran.stdout.toString()).toMatch(/-rw-------.* 8 .*y/);
    expect(readFileSync(join(client.folder, 'back'), 'utf8')).toBe('content\n');
  });

  it('[WIRE-SSH-03] rsync copies a tree both ways', async () => {
    const [from, to] = ['from', 'to'].map((name) => join(client.folder, name)) as [string, string];
    for (let i = 0; i < 20; i++) {
      mkdirSync(join(from, `${i}`), { recursive: true });
      writeFileSync(join(from, `${i}`, 'file'), randomBytes(20_000));
    }
    const shell = ['ssh', ...client.options(access, ['-o', 'BatchMode=yes']), '-p', `${access.port}`].join(
      ' ',
    );
    const remote = `${access.access_token}@${access.host}:tree/`;
    expect(await client.run('rsync', ['-a', '-e', shell, `${from}/`, remote])).toMatchObject({ code: 0 });
    expect(await client.run('rsync', ['-a', '-e', shell, remote, `${to}/`])).toMatchObject({ code: 0 });
    expect(await client.run('diff', ['-r', from, to])).toMatchObject({ code: 0, stdout: Buffer.alloc(0) });
  });
});

describe('forwarding', () => {
  const body = randomBytes(5_000_000);

  beforeAll(async () => {
    const headers = { authorization: `Bearer ${service.apiKey}` };
    const url = `${service.url}/v1/sandboxes/${sandbox}/files?path=site/big&create_parents=true`;
    const put = await fetch(url, { method: 'PUT', headers, body });
    expect(put.status).toBe(200);
    await inside(
      service,
      sandbox,
      'cd site; nohup python3 -m http.server 8000 --bind 127.0.0.1 >/dev/null 2>&1 &',
    );
    await eventually('the server inside', async () => {
      return (await inside(service, sandbox, 'curl -sI localhost:8000/big')).includes('200');
    });
  }, 60_000);

  it('[WIRE-SSH-03] -L leads to a port of the sandbox', async () => {
    const port = await freePort();
    await using _ = await held(['-L', `127.0.0.1:${port}:localhost:8000`]);
    await eventually('the port', async () => (await curl(`http://127.0.0.1:${port}/`)).code === 0);
    const answers = await Promise.all(Array.from({ length: 10 }, () => curl(`http://127.0.0.1:${port}/big`)));
    for (const { stdout } of answers) expect(stdout.equals(body)).toBe(true);
  }, 60_000);

  it('[WIRE-SSH-03] -D leads to the sandbox, and where the sandbox can go by name', async () => {
    const port = await freePort();
    const address = (
      await inside(service, sandbox, "ip -4 -o addr show scope global | awk '{print $4}'")
    ).split('/')[0];
    await inside(service, sandbox, `echo "${address} own.example" >> /etc/hosts`);
    await inside(
      service,
      sandbox,
      `cd site; nohup python3 -m http.server 8001 --bind ${address} >/dev/null 2>&1 &`,
    );
    await using _ = await held(['-D', `127.0.0.1:${port}`]);
    const socks = ['--socks5-hostname', `127.0.0.1:${port}`];
    await eventually('the proxy', async () => (await curl('http://localhost:8000/', ...socks)).code === 0);
    expect((await curl('http://localhost:8000/big', ...socks)).stdout.equals(body)).toBe(true);
    await eventually(
      'the other server',
      async () => (await curl('http://own.example:8001/', ...socks)).code === 0,
    );
    // The host's own loopback is another machine's, and names that are none lead nowhere.
    const taken = new URL(service.url).port;
    expect((await curl(`http://127.0.0.1:${taken}/healthz`, ...socks)).code).not.toBe(0);
    expect((await curl('http://nobody.invalid/', '--max-time', '20', ...socks)).code).not.toBe(0);
  }, 90_000);

  it('[WIRE-SSH-03] -R brings a port of the client into the sandbox, which may choose its number', async () => {
    const server: Server = createServer((_request, response) => response.end(body));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    try {
      const child = client.start(
        'ssh',
        client.arguments(access, ['-N', '-o', 'LogLevel=INFO', '-R', `0:127.0.0.1:${port}`], []),
      );
      let said = '';
      child.stderr?.on('data', (chunk) => {
        said += chunk;
      });
      const allocated = () => /Allocated port (\d+) for remote forward/.exec(said)?.[1];
      await eventually('a port is allocated', () => allocated() !== undefined);
      const digest = await inside(service, sandbox, `curl -s localhost:${allocated()} | md5sum; ss -ltn`);
      expect(digest).toContain(`127.0.0.1:${allocated()}`);
      const again = await inside(service, sandbox, `curl -s localhost:${allocated()} | wc -c`);
      expect(again).toBe(`${body.length}\n`);
      child.kill();
      await eventually('the port is closed', async () => {
        return !(await inside(service, sandbox, 'ss -ltn')).includes(`:${allocated()} `);
      });
    } finally {
      server.close();
    }
  }, 60_000);

  it('to a port that nobody listens on is refused, and the connection goes on', async () => {
    const port = await freePort();
    await using _ = await held(['-L', `127.0.0.1:${port}:localhost:1`]);
    await eventually('the refusal', async () =>
      [52, 56].includes((await curl(`http://127.0.0.1:${port}/`)).code ?? 0),
    );
  }, 60_000);

  it('of unix sockets, of the agent and of X11 is refused politely', async () => {
    const sockets = await client.ssh(access, ['echo still here'], {
      flags: ['-R', `/tmp/x:127.0.0.1:1`, '-o', 'ExitOnForwardFailure=no'],
    });
    expect(sockets.stdout.toString()).toBe('still here\n');
    const agent = await client.ssh(access, ['echo agent: $SSH_AUTH_SOCK'], { flags: ['-A'] });
    expect(agent.stdout.toString()).toBe('agent:\n');
  });

  /** ssh that only forwards, until it is disposed of. */
  async function held(flags: string[]): Promise<AsyncDisposable> {
    const child = client.start('ssh', client.arguments(access, ['-N', ...flags], []));
    const ended = new Promise((resolve) => child.once('close', resolve));
    return {
      async [Symbol.asyncDispose]() {
        child.kill();
        await ended;
      },
    };
  }

  function curl(url: string, ...flags: string[]) {
    return client.run('curl', ['-s', '--noproxy', 'nothing', ...flags, url]);
  }
});

describe('many channels', () => {
  it('on one connection are bounded, and the rest of the sandbox goes on', async () => {
    const port = await freePort();
    const args = client.arguments(access, ['-N', '-L', `127.0.0.1:${port}:localhost:8000`], []);
    const child = client.start('ssh', args);
    await eventually('the port', async () => {
      return (await client.run('curl', ['-s', '--noproxy', 'x', `http://127.0.0.1:${port}/`])).code === 0;
    });
    const { connect } = await import('node:net');
    const sockets = Array.from({ length: 200 }, () => connect(port, '127.0.0.1'));
    for (const socket of sockets) socket.on('error', () => {});
    await eventually('some are refused', () =>
      sockets.some((socket) => socket.destroyed || socket.readableEnded || !socket.writable),
    );
    expect(await must(service, 'RunCommand', { sandbox, command: 'echo fine' })).toMatchObject({
      stdout: 'fine\n',
    });
    for (const socket of sockets) socket.destroy();
    child.kill();
  }, 60_000);
});

async function freePort(): Promise<number> {
  const server = createNetServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}
