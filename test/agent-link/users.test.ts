/** Calls as users of the sandbox, on a real agent over the base image. */
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScratchSandbox, startScratchSandbox } from './scratch-sandbox.ts';

const PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const exec = (user: string | undefined, command: string, extra: object = {}) =>
  sandbox.agent.exec(sandbox.id, {
    ...{ user, argv: ['bash', '-c', command], cwd: '.', env: { PATH }, timeoutMs: 20_000 },
    ...extra,
  });
const outputOf = async (user: string | undefined, command: string, extra: object = {}) =>
  (await exec(user, command, extra)).output;
const write = (user: string | undefined, path: string, content = 'x') =>
  sandbox.agent.write(sandbox.id, { user, path, content: Buffer.from(content), createParents: true });

describe('an account that the image lacks', () => {
  it('[WIRE-USER-05] is made on first use, with a home, a group and the first free number from 1000 on', async () => {
    expect(await outputOf('first', 'id; pwd; echo ~ $HOME $USER $LOGNAME $SHELL; umask')).toBe(
      'uid=1000(first) gid=1000(first) groups=1000(first)\n/home/first\n' +
        '/home/first /home/first first first /bin/bash\n0022\n',
    );
    expect(await outputOf(undefined, 'stat -c "%U:%G %a %n" /home/first /home/first/.bashrc')).toBe(
      'first:first 755 /home/first\nfirst:first 644 /home/first/.bashrc\n',
    );
  });

  it('may use sudo without a password', async () => {
    expect(await outputOf('admin', 'sudo -n id -u; sudo -n -u first id -un')).toBe('0\nfirst\n');
  });

  it('is one account, however many calls come first', async () => {
    const ids = await Promise.all(Array.from({ length: 12 }, () => outputOf('many', 'id -u')));
    expect(new Set(ids).size).toBe(1);
    expect(await outputOf(undefined, 'grep -c ^many: /etc/passwd /etc/group /etc/shadow')).toBe(
      '/etc/passwd:1\n/etc/group:1\n/etc/shadow:1\n',
    );
  });

  it.each(['Ann', 'a:b', 'a b', '../a', '-a', 'a\n', 'a'.repeat(33), ''])(
    'is not made for %j',
    async (name) => {
      const before = await outputOf(undefined, 'cat /etc/passwd | wc -l');
      await expect(exec(name, 'id')).rejects.toMatchObject({
        code: 'invalid_argument',
        fields: { parameter: 'user' },
      });
      expect(await outputOf(undefined, 'cat /etc/passwd | wc -l')).toBe(before);
    },
  );

  it('is finished where an earlier attempt was broken off', async () => {
    await outputOf(undefined, 'mkdir /home/half; echo half:x:4242: >> /etc/group');
    expect(await outputOf('half', 'id -g; stat -c %U ~; touch a; stat -c %G a')).toBe('4242\nhalf\nhalf\n');
  });
});

describe('a command', () => {
  it('[WIRE-USER-01] of a user of the image has the groups of that user', async () => {
    await outputOf(undefined, 'useradd -m -G staff,users -s /bin/sh carla');
    expect(await outputOf('carla', 'id -Gn | tr " " "\\n" | sort; echo $SHELL')).toBe(
      'carla\nstaff\nusers\n/bin/sh\n',
    );
  });

  it('of a number needs no account', async () => {
    expect(await outputOf('4321', 'id -u; id -g; pwd')).toBe('4321\n4321\n/\n');
    expect(await outputOf('0', 'id -un; pwd')).toBe('root\n/root\n');
  });

  it('as root by name starts in the home of root, and without a user in /workspace', async () => {
    expect(await outputOf('root', 'id -u; pwd; echo $HOME')).toBe('0\n/root\n/root\n');
    expect(await outputOf(undefined, 'id -u; pwd')).toBe('0\n/workspace\n');
  });

  it('[WIRE-USER-01] has no right of root', async () => {
    const { output, exitCode } = await exec(
      'first',
      'cat /etc/shadow; touch /etc/x; kill -0 1; grep -E "Cap(Prm|Eff|Inh|Amb)" /proc/self/status',
    );
    expect(output).toContain('cat: /etc/shadow: Permission denied\n');
    expect(output).toContain("touch: cannot touch '/etc/x': Permission denied\n");
    expect(output).toContain('kill: (1) - Operation not permitted\n');
    expect(output.match(/Cap\w+:\t0{16}/g)).toHaveLength(4);
    expect(exitCode).toBe(0);
  });

  it('can open its own streams again by name', async () => {
    expect(await outputOf('first', 'echo a > /proc/self/fd/1; echo b > /proc/self/fd/2')).toBe('a\nb\n');
  });

  it('[WIRE-USER-04] starts in a folder below the home, and in none that the user cannot enter', async () => {
    await outputOf('first', 'mkdir -p ~/a/b');
    expect(await outputOf('first', 'pwd', { cwd: 'a/b' })).toBe('/home/first/a/b\n');
    expect(await outputOf('first', 'pwd', { cwd: '~/a' })).toBe('/home/first/a\n');
    await outputOf(undefined, 'mkdir -m 700 /srv/closed');
    await expect(exec('first', 'pwd', { cwd: '/srv/closed' })).rejects.toMatchObject({
      code: 'permission_denied',
      fields: { parameter: 'cwd' },
    });
  });

  it('keeps the variables of the call', async () => {
    expect(await outputOf('first', 'echo $HOME $USER', { env: { PATH, HOME: '/tmp', USER: 'u' } })).toBe(
      '/tmp u\n',
    );
  });

  it('is killed with its tree at its timeout', async () => {
    const result = await exec('first', 'sleep 4321 & sleep 4321', { timeoutMs: 300 });
    expect(result).toMatchObject({ timedOut: true, exitCode: 124 });
    expect(await outputOf(undefined, 'pgrep -fc "^sleep 4321" || true')).toBe('0\n');
  });
});

it.each(['python', 'javascript', 'typescript'] as const)('%s runs as the user', async (language) => {
  const code =
    language === 'python'
      ? 'import os; print(os.getuid(), os.getcwd(), os.path.expanduser("~"))'
      : 'console.log(process.getuid(), process.cwd(), require("node:os").homedir())';
  const whole =
    language === 'typescript'
      ? `import { createRequire } from "node:module"; const require = createRequire("/"); ${code}`
      : code;
  const { stdout, stderr } = await sandbox.agent.runCode(sandbox.id, {
    ...{ user: 'first', language, code: whole, env: { PATH }, timeoutMs: 20_000 },
  });
  expect({ stdout, stderr }).toEqual({ stdout: '1000 /home/first /home/first\n', stderr: '' });
});

describe('a file operation', () => {
  it('[WIRE-USER-01] [WIRE-USER-04] makes files and folders of the user, below the home', async () => {
    await write('first', 'made/in/file');
    await sandbox.agent.createFolder(sandbox.id, { user: 'first', path: '~/folder', mode: 0o750 });
    expect(await outputOf('first', 'stat -c "%U:%G %a %n" made made/in made/in/file folder')).toBe(
      'first:first 755 made\nfirst:first 755 made/in\nfirst:first 644 made/in/file\nfirst:first 750 folder\n',
    );
    const info = await sandbox.agent.stat(sandbox.id, { user: 'first', path: '~' });
    expect(info).toMatchObject({ type: 'dir', owner: 'first', group: 'first' });
  });

  it('has no right of root', async () => {
    await outputOf(undefined, 'mkdir -m 755 /srv/own; echo secret > /srv/own/s; chmod 600 /srv/own/s');
    const { agent, id } = sandbox;
    const user = 'first';
    const refused = { code: 'permission_denied' };
    await expect(agent.read(id, { user, path: '/srv/own/s' })).rejects.toMatchObject(refused);
    await expect(write(user, '/srv/own/new')).rejects.toMatchObject(refused);
    await expect(agent.remove(id, { user, path: '/srv/own/s', recursive: false })).rejects.toMatchObject(
      refused,
    );
    await expect(
      agent.move(id, { user, source: '/srv/own/s', destination: '/home/first/s' }),
    ).rejects.toMatchObject(refused);
    await expect(agent.list(id, { user, path: '/srv/closed', maxItems: 1, offset: 0 })).rejects.toMatchObject(
      refused,
    );
    const stream = agent.readStream(id, { user, path: '/srv/own/s' });
    await expect(stream).rejects.toMatchObject(refused);
    expect(await outputOf(undefined, 'ls /srv/own; cat /srv/own/s')).toBe('s\nsecret\n');
  });

  it('shows what it found relative to the home, so that the same user can use it', async () => {
    await write('first', 'look/one.txt', 'needle\n');
    const { agent, id } = sandbox;
    const page = { maxItems: 10, offset: 0 };
    const found = await agent.find(id, { user: 'first', path: 'look', pattern: '*.txt', ...page });
    expect(found.items).toEqual(['look/one.txt']);
    const query = { user: 'first', path: '.', query: 'needle', filePattern: '*.txt', contextLines: 0 };
    const matches = await agent.searchContent(id, { ...query, ...page });
    expect(matches.files.map(({ path }) => path)).toEqual(['look/one.txt']);
    const replaced = await agent.replaceInFiles(id, {
      ...{ user: 'first', pattern: 'needle', replacement: 'thread', files: ['look/*.txt', '/srv/own/s'] },
    });
    expect(replaced.results).toMatchObject([
      { path: 'look/one.txt', status: 'success' },
      { path: '/srv/own/s', status: 'error' },
    ]);
    expect(await outputOf('first', 'cat look/one.txt; stat -c %U look/one.txt')).toBe('thread\nfirst\n');
  });

  it('of root does not follow in the footsteps of a user', async () => {
    const turns = Array.from({ length: 60 }, async (_, index) => {
      const user = index % 3 === 0 ? 'first' : index % 3 === 1 ? undefined : 'many';
      const path = `/tmp/turn-${index}`;
      await write(user, path);
      return (await sandbox.agent.stat(sandbox.id, { path })).owner;
    });
    const owners = await Promise.all(turns);
    expect(owners).toEqual(Array.from({ length: 60 }, (_, index) => ['first', 'root', 'many'][index % 3]));
  });
});

it('a session is a shell of the user, whose two streams keep their order', async () => {
  const { agent, id } = sandbox;
  await agent.createSession(id, { user: 'first', sessionId: 's', cwd: '.', env: { PATH } });
  const command = 'id -un; pwd; for i in 1 2 3 4 5 6 7 8; do echo o$i; echo e$i >&2; done';
  const run = { sessionId: 's', commandId: 'c', command, waitTurnMs: 10_000, waitRunMs: 10_000 };
  expect(await agent.runSessionCommand(id, run)).toMatchObject({
    status: 'completed',
    output: `first\n/home/first\n${[1, 2, 3, 4, 5, 6, 7, 8].map((n) => `o${n}\ne${n}\n`).join('')}`,
  });
  expect(await outputOf(undefined, 'ls -A /dev/shm')).toBe('');
});

it('a program with a terminal owns it', async () => {
  const running = await sandbox.agent.openProcess(sandbox.id, {
    ...{ user: 'first', argv: ['bash', '-c', 'stat -c %U $(tty); echo hi > /dev/tty'], cwd: '.' },
    ...{ env: { PATH }, terminal: { columns: 80, rows: 24 } },
  });
  expect(await text(running.stdout)).toBe('first\r\nhi\r\n');
  expect(await running.ended).toMatchObject({ exitCode: 0 });
});

it('SFTP has the rights of the user, and starts in the home', async () => {
  const served = await sandbox.agent.openSftp(sandbox.id, { user: 'first' });
  // SSH_FXP_INIT, version 3; then SSH_FXP_REALPATH of ".".
  served.stdin.write(Buffer.from('000000050100000003', 'hex'));
  served.stdin.write(Buffer.from('0000000a1000000001000000012e', 'hex'));
  let answer = '';
  while (!answer.includes('/home/first')) {
    const [piece] = await once(served.stdout, 'data');
    answer += (piece as Buffer).toString('latin1');
  }
  const owner = await outputOf(undefined, 'ps -eo user=,args= | grep sftp-[s]erver');
  expect(owner).toMatch(/^first +sandhaven-agent --sftp-server\n$/);
  served.close();
});

it('the agent stays closed to users in whose name it has worked', async () => {
  await write('first', '/tmp/closed');
  const { output } = await exec(
    'first',
    'cat /proc/1/environ; cat /proc/1/mem; ls /proc/1/fd; for t in /proc/1/task/*; do cat $t/maps; done; true',
  );
  expect(output.split('\n').filter((line) => line !== '' && !line.endsWith('Permission denied'))).toEqual([]);
});

it('[WIRE-USER-05] without /etc/passwd there are no users, and root works on', async () => {
  await outputOf(undefined, 'mv /etc/passwd /etc/passwd.away');
  await expect(exec('first', 'id')).rejects.toMatchObject({
    code: 'failed_precondition',
    fields: { parameter: 'user' },
  });
  await outputOf(undefined, 'mkfifo /etc/passwd');
  await expect(exec('first', 'id')).rejects.toMatchObject({ code: 'failed_precondition' });
  const { agent, id } = sandbox;
  await agent.remove(id, { path: '/etc/passwd', recursive: false });
  await agent.move(id, { source: '/etc/passwd.away', destination: '/etc/passwd' });
  expect(await outputOf('first', 'id -u')).toBe('1000\n');
});

describe('a privileged call', () => {
  it('makes files and folders of its user anywhere, and keeps the owner of a file that is there', async () => {
    await outputOf('owner', 'true');
    const call = { user: 'owner', privileged: true } as const;
    const content = Buffer.from('x');
    const { agent, id } = sandbox;
    const file = (path: string) => agent.write(id, { ...call, path, content, createParents: true });
    await file('/srv/deep/er/a.txt');
    await file('/etc/hostname.new');
    await agent.createFolder(id, { ...call, path: '/opt/d/e', mode: 0o750 });
    await outputOf(undefined, 'echo x >/root/mine; chmod 600 /root/mine');
    await file('/root/mine');
    expect(
      await outputOf(
        undefined,
        'stat -c "%U:%G %a %n" /srv/deep /srv/deep/er /srv/deep/er/a.txt /etc/hostname.new /opt/d /opt/d/e /root/mine',
      ),
    ).toBe(
      'owner:owner 755 /srv/deep\nowner:owner 755 /srv/deep/er\nowner:owner 644 /srv/deep/er/a.txt\n' +
        'owner:owner 644 /etc/hostname.new\nowner:owner 755 /opt/d\nowner:owner 750 /opt/d/e\n' +
        'root:root 600 /root/mine\n',
    );
  });

  it('leaves the calls after it as they are', async () => {
    await expect(write('owner', '/srv/no.txt')).rejects.toMatchObject({ code: 'permission_denied' });
  });
});
