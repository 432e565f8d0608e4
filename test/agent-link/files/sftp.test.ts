/** The agent's SFTP server, driven by the real clients of OpenSSH without any SSH between. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';

let sandbox: ScratchSandbox;
let folder: string;
let bridge: string;
/** Each connection is one to a server in the sandbox. */
const relay = createServer({ allowHalfOpen: true }, async (socket) => {
  const server = await sandbox.agent.openSftp(sandbox.id);
  socket.pipe(server.stdin);
  server.stdout.pipe(socket);
  server.stderr.resume();
  await server.ended;
});
/** Joins a client's standard input and output with the relay. In Perl, since Node takes half a second to start. */
const bridgeTo = (port: number) => `#!/usr/bin/perl
use Socket;
socket(my $relay, PF_INET, SOCK_STREAM, 0) or die $!;
connect($relay, pack_sockaddr_in(${port}, INADDR_LOOPBACK)) or die $!;
sub pass { my ($from, $to) = @_; while (sysread $from, my $piece, 65536) { syswrite $to, $piece } }
if (fork) { pass($relay, *STDOUT); close STDOUT; wait }
else { close STDOUT; pass(*STDIN, $relay); shutdown $relay, 1 }
`;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
  folder = mkdtempSync(join(tmpdir(), 'sandhaven-sftp-'));
  bridge = join(folder, 'bridge');
  await once(relay.listen(0, '127.0.0.1'), 'listening');
  writeFileSync(bridge, bridgeTo((relay.address() as AddressInfo).port), { mode: 0o755 });
});
afterAll(async () => {
  relay.close();
  rmSync(folder, { recursive: true, force: true });
  await sandbox[Symbol.asyncDispose]();
});

async function run(program: string, ...argv: string[]) {
  const child = spawn(program, argv, { stdio: ['ignore', 'pipe', 'pipe'], cwd: folder });
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'exit'),
  ]);
  return { stdout, stderr, code: code as number };
}
/** The commands are given one a line; those that begin with `-` may fail. */
async function sftp(...commands: string[]) {
  const batch = join(folder, 'batch');
  writeFileSync(batch, `${commands.join('\n')}\n`);
  return run('sftp', '-b', batch, '-D', bridge);
}
const scp = (...argv: string[]) => run('scp', '-D', bridge, ...argv);
const local = (name: string) => join(folder, name);
const inside = async (command: string) => (await sandbox.sh(command)).stdout;
/** Bytes that do not repeat. */
async function someFile(name: string, bytes: number): Promise<string> {
  await run('sh', '-c', `head -c ${bytes} /dev/urandom > '${local(name)}'`);
  return (await run('sha256sum', local(name))).stdout.slice(0, 64);
}

describe('the sftp client', () => {
  it('puts and gets a large file without a wrong byte', { timeout: 120_000 }, async () => {
    const digest = await someFile('large', 10_000_000);
    expect(await sftp(`put ${local('large')} large`, `get large ${local('back')}`)).toMatchObject({
      code: 0,
    });
    expect((await inside('sha256sum large')).slice(0, 64)).toBe(digest);
    expect((await run('sha256sum', local('back'))).stdout.slice(0, 64)).toBe(digest);
    await sandbox.sh('rm large');
  });

  it('starts at the sandbox root, and changes to the folder it names', async () => {
    const { stdout } = await sftp('pwd', 'cd /usr/../tmp/.', 'pwd', '-cd nowhere', 'pwd');
    expect(stdout.match(/directory: .*/g)).toEqual([
      'directory: /workspace',
      'directory: /tmp',
      'directory: /tmp',
    ]);
  });

  it('changes names, modes and links', async () => {
    await sandbox.sh('rm -rf t; echo content > file');
    const { code, stderr } = await sftp(
      ...['mkdir t', 'rename file t/a', 'ln t/a t/hard', 'symlink a t/soft', 'chmod 640 t/a'],
      ...['put batch t/put', 'rename t/put t/hard', 'mkdir t/gone', 'rmdir t/gone'],
    );
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(await inside('cd t; stat -c "%n %a %h %F" *; readlink soft; cat soft')).toBe(
      [
        'a 640 1 regular file',
        'hard 644 1 regular file',
        'soft 777 1 symbolic link',
        'a',
        'content',
        '',
      ].join('\n'),
    );
    await sftp('rm t/*', 'rmdir t');
    expect(await inside('ls -d t 2>&1 || true')).toContain('No such file');
  });

  it('lists as ls does', async () => {
    await sandbox.sh(
      'rm -rf l; mkdir l; cd l; echo abc > f; ln -s f s; mkdir -m 1777 d; mkfifo p; touch -d @0 old; chmod 4755 f',
    );
    const { stdout: long } = await sftp('cd l', 'ls -la');
    expect(long).toMatch(/^-rwsr-xr-x +1 root +root +4 [A-Z][a-z]{2} +\d+ \d\d:\d\d f$/m);
    expect(long).toMatch(/^lrwxrwxrwx +1 root +root +1 .* s$/m);
    expect(long).toMatch(/^drwxrwxrwt +2 .* d$/m);
    expect(long).toMatch(/^prw-r--r-- .* p$/m);
    expect(long).toMatch(/^-rw-r--r-- .* Jan +1 +1970 old$/m);
  });

  it('lists a folder of thousands, each once', async () => {
    await sandbox.sh('mkdir -p many; cd many; seq 3000 | xargs touch');
    const { stdout } = await sftp('ls -1 many');
    const names = stdout.split('\n').filter((line) => line.startsWith('many/'));
    expect(new Set(names).size).toBe(3_000);
    expect(names).toHaveLength(3_000);
  });

  it('continues what was broken off, and keeps times', async () => {
    const digest = await someFile('part', 3_000_000);
    await run('sh', '-c', `head -c 1000000 '${local('part')}' > '${local('begun')}'`);
    await sftp(`put ${local('begun')} part`, `reput ${local('part')} part`);
    expect((await inside('sha256sum part')).slice(0, 64)).toBe(digest);
    await sandbox.sh('touch -d "2001-02-03 04:05:06 UTC" part');
    await sftp(`get -p part ${local('kept')}`, `put -p ${local('kept')} again`);
    expect(statSync(local('kept')).mtimeMs).toBe(Date.UTC(2001, 1, 3, 4, 5, 6));
    expect(await inside('stat -c %Y again')).toBe(`${Date.UTC(2001, 1, 3, 4, 5, 6) / 1000}\n`);
  });

  it('shows why an operation fails', async () => {
    await sandbox.sh('mkdir -p full/of; touch here');
    const failing = [
      ['get nowhere', 'not found'],
      ['get full', 'not a regular file'],
      ['rmdir full', 'Failure'],
      ['mkdir here', 'Failure'],
      ['rm nowhere', 'No such file'],
      ['put batch /proc/version', /denied|Failure/],
      ['ls nowhere', 'not found'],
    ] as const;
    writeFileSync(local('batch'), failing.map(([command]) => `-${command}\n`).join(''));
    const { stdout } = await run('sh', '-c', `sftp -b batch -D ${bridge} 2>&1`);
    // The client shows each command before what comes of it.
    const [, ...outcomes] = stdout.split(/^sftp> /m);
    expect(outcomes).toHaveLength(failing.length);
    for (const [at, [command, words]] of failing.entries()) expect(outcomes[at], command).toMatch(words);
    expect((await sftp('get nowhere')).code).not.toBe(0);
  });

  it('sees how full the disk is', async () => {
    const { stdout } = await sftp('df -h', 'df -i');
    expect(stdout).toMatch(/1\.0GB/);
    expect(stdout).toMatch(/Inodes/);
  });
});

describe('scp', () => {
  it('copies files and folders both ways, with modes and times', async () => {
    mkdirSync(local('tree/sub'), { recursive: true });
    writeFileSync(local('tree/sub/script'), 'echo hi\n', { mode: 0o750 });
    writeFileSync(local('tree/ü and spaces'), Buffer.from([0, 255, 10, 13]));
    expect(await scp('-rp', local('tree'), 'host:copied')).toMatchObject({ code: 0 });
    expect(await inside('cd copied; stat -c "%a %s" sub/script; xxd -p "ü and spaces"')).toBe(
      '750 8\n00ff0a0d\n',
    );
    expect(await scp('-rp', 'host:copied', local('returned'))).toMatchObject({ code: 0 });
    expect(readdirSync(local('returned'))).toEqual(['sub', 'ü and spaces']);
    expect(readFileSync(local('returned/ü and spaces'))).toEqual(Buffer.from([0, 255, 10, 13]));
    expect(statSync(local('returned/sub/script')).mode & 0o777).toBe(0o750);
  });

  it('knows home folders; for it `~/` is where it starts', async () => {
    writeFileSync(local('note'), 'home\n');
    expect(await scp(local('note'), 'host:~root/note')).toMatchObject({ code: 0 });
    expect(await inside('cat /root/note')).toBe('home\n');
    expect(await scp('host:~root/note', local('note2'))).toMatchObject({ code: 0 });
    expect((await scp('host:~nobody-here/note', local('note3'))).code).not.toBe(0);
    expect(await scp(local('note'), 'host:~/note')).toMatchObject({ code: 0 });
    expect(await inside('cat /workspace/note')).toBe('home\n');
  });

  it('of a file that is not there fails', async () => {
    const { code, stderr } = await scp('host:nowhere', local('x'));
    expect(code).toBe(1);
    expect(stderr).toContain('No such file');
  });
});
