import { createHash, randomBytes } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { inPart } from '../../deep/parts.ts';
import { type SharedService, sharedService } from '../../support/shared-service.ts';
import { type Access, accessTo, eventually, inside, makeSandbox, SshClient } from './client.ts';

/** The part `output` of `make test-deep` has more of both. */
const BYTES = inPart('output') ? 100_000_000 : 20_000_000;
const RUNS = inPart('output') ? 10 : 3;
/** Twice what the window of a stream takes. */
const LINES = 400_000;

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

describe('a command', () => {
  it('[WIRE-SSH-03] has its output and its error output apart, and its exit code', async () => {
    const ran = await client.ssh(access, ['echo out; echo err >&2; exit 7']);
    expect(ran).toMatchObject({ code: 7, stdout: Buffer.from('out\n'), stderr: 'err\n' });
  });

  it('loses none of what it prints, however short it is', async () => {
    const all = await Promise.all(
      Array.from({ length: 4 }, async () => {
        const ran: string[] = [];
        for (let i = 0; i < RUNS; i++) {
          const { stdout, stderr } = await client.ssh(access, ['echo out; echo err >&2']);
          ran.push(`${stdout}${stderr}`);
        }
        return ran;
      }),
    );
    expect(new Set(all.flat())).toEqual(new Set(['out\nerr\n']));
  }, 120_000);

  it('is reported with its signal when a signal ends it: ssh exits with 255', async () => {
    expect((await client.ssh(access, ['kill -9 $$'])).code).toBe(255);
    const verbose = await client.ssh(access, ['kill -TERM $$'], { flags: ['-v', '-o', 'LogLevel=DEBUG1'] });
    expect(verbose.stderr).toContain('rtype exit-signal');
  });

  it('starts at the sandbox root as root, with what the client sets of what it may', async () => {
    const { stdout } = await client.ssh(
      access,
      ['pwd; echo $HOME $USER $SHELL "$LC_TEST" "$SECRET" "$GIT_AUTHOR_NAME" "$SSH_TTY"'],
      { flags: ['-o', 'SetEnv=LC_TEST=a SECRET=b GIT_AUTHOR_NAME=c'] },
    );
    expect(stdout.toString()).toBe('/workspace\n/root root /bin/bash a  c \n');
  });

  it('[WIRE-USER-03] is that of the sandbox’s user, as a terminal and SFTP are', async () => {
    const own = await makeSandbox(service, { user: 'dev' });
    const entry = await accessTo(service, own);
    const { stdout } = await client.ssh(entry, ['pwd; id -un; echo $HOME $USER $SHELL']);
    expect(stdout.toString()).toBe('/home/dev\ndev\n/home/dev dev /bin/bash\n');
    const shown = await client.ssh(entry, ['stat -c %U $(tty); exit 3'], { flags: ['-tt'] });
    expect(shown).toMatchObject({ code: 3, stdout: Buffer.from('dev\r\n') });
    const local = join(client.folder, 'sent');
    writeFileSync(local, 'sent');
    const remote = `scp://${entry.access_token}@${entry.host}:${entry.port}/there`;
    const copied = await client.run('scp', [...client.options(entry, ['-q', '-B']), local, remote]);
    expect(copied).toMatchObject({ code: 0, stderr: '' });
    expect(await inside(service, own, 'stat -c "%U %n" ~/there')).toBe('dev /home/dev/there\n');
  }, 60_000);

  it('does not learn where the client is', async () => {
    const { stdout } = await client.ssh(access, ['echo $SSH_CONNECTION']);
    expect(stdout.toString()).toBe('127.0.0.1 0 127.0.0.1 22\n');
  });

  it('reads a script that is piped to it, and its end', async () => {
    const ran = await client.ssh(access, ['bash'], { input: 'cat <<X\nfrom a script\nX\nexit 4\n' });
    expect(ran).toMatchObject({ code: 4, stdout: Buffer.from('from a script\n') });
  });

  it('may end without reading what is piped to it', async () => {
    const ran = await client.ssh(access, ['exit 3'], { input: Buffer.alloc(20_000_000) });
    expect(ran.code).toBe(3);
  }, 60_000);

  it('gets many megabytes unharmed, and gives them back so', async () => {
    const bytes = randomBytes(BYTES);
    const digest = createHash('sha256').update(bytes).digest('hex');
    const up = await client.ssh(access, ['tee copy | sha256sum'], { input: bytes });
    expect(up.stdout.toString()).toBe(`${digest}  -\n`);
    const down = await client.ssh(access, ['cat copy']);
    expect(createHash('sha256').update(down.stdout).digest('hex')).toBe(digest);
  }, 300_000);

  it('has both outputs unharmed when the client is slow to read them', async () => {
    const lines = (at: string) => `seq --format '${at} %.0f' ${LINES}`;
    const args = client.arguments(access, [], [`${lines('out')} & ${lines('err')} >&2; wait`]);
    const child = client.start('ssh', args);
    const seen = { out: '', err: '' };
    child.stdin?.end();
    // Nothing is read until the windows of both are surely full.
    await new Promise((resolve) => setTimeout(resolve, 3_000));
    child.stdout?.on('data', (chunk) => {
      seen.out += chunk;
    });
    child.stderr?.on('data', (chunk) => {
      seen.err += chunk;
    });
    expect(await new Promise((resolve) => child.once('close', resolve))).toBe(0);
    const expected = (at: string) => Array.from({ length: LINES }, (_, i) => `${at} ${i + 1}\n`).join('');
    expect(seen.out === expected('out')).toBe(true);
    expect(seen.err === expected('err')).toBe(true);
  }, 180_000);

  it('leaves what it put in the background running, and returns at once', async () => {
    const ran = await client.ssh(access, ['sleep 1234 & echo $!']);
    const pid = ran.stdout.toString().trim();
    expect(await inside(service, sandbox, `ps -o args= -p ${pid}`)).toBe('sleep 1234\n');
    await inside(service, sandbox, `kill ${pid}`);
  });
});

describe('a terminal', () => {
  it('[WIRE-SSH-03] has the size of the one that ssh runs in, and follows it', async () => {
    const { code, stdout, stderr } = await onTerminal('stty size; read line; stty size; exit 5');
    expect(stderr).toBe('');
    expect(stdout.toString()).toMatch(/30 100\s[\s\S]*50 132\s/);
    expect(code).toBe(5);
  }, 60_000);

  it('runs a login shell when no command is named, until its end', async () => {
    const ran = await client.ssh(access, [], { flags: ['-tt'], input: 'shopt login_shell; tty; exit 6\n' });
    expect(ran.stdout.toString()).toMatch(/login_shell\s+on/);
    expect(ran.stdout.toString()).toContain('/dev/pts/');
    expect(ran.code).toBe(6);
  });

  /** ssh in a terminal of its own, which is made larger once its first size was printed. */
  function onTerminal(command: string) {
    const script = join(client.folder, 'terminal.py');
    writeFileSync(script, TERMINAL);
    const args = client.arguments(access, ['-tt'], [command]);
    return client.run('python3', [script, 'ssh', ...args]);
  }
});

describe('one connection', () => {
  it('[WIRE-SSH-03] carries twenty programs at once, and more one after another', async () => {
    const socket = join(client.folder, 'control');
    const flags = ['-o', `ControlPath=${socket}`];
    const master = client.start('ssh', client.arguments(access, ['-N', '-M', ...flags], []));
    await eventually('the connection is there', async () => {
      return (await client.ssh(access, [], { flags: [...flags, '-O', 'check'] })).code === 0;
    });
    const ran = await Promise.all(
      Array.from({ length: 20 }, (_, i) =>
        client.ssh(access, [`sleep 0.3; cat; exit ${i}`], { flags, input: `${i}` }),
      ),
    );
    expect(ran.map(({ code }) => code)).toEqual(Array.from({ length: 20 }, (_, i) => i));
    expect(ran.map(({ stdout }) => stdout.toString())).toEqual(Array.from({ length: 20 }, (_, i) => `${i}`));
    for (let i = 0; i < 5; i++) expect((await client.ssh(access, ['true'], { flags })).code).toBe(0);
    master.kill();
  }, 120_000);
});

/** Run as PROGRAM ARGUMENT…, on a terminal: 30 × 100 cells, then 50 × 132 and a line. */
const TERMINAL = `
import fcntl, os, pty, struct, sys, termios, time
pid, master = pty.fork()
if pid == 0:
    time.sleep(0.2)
    os.execvp(sys.argv[1], sys.argv[1:])
size = lambda rows, columns: fcntl.ioctl(master, termios.TIOCSWINSZ, struct.pack('HHHH', rows, columns, 0, 0))
size(30, 100)
seen = b''
grown = False
while True:
    try:
        piece = os.read(master, 4096)
    except OSError:
        break
    if not piece:
        break
    seen += piece
    if not grown and b'30 100' in seen:
        grown = True
        size(50, 132)
        time.sleep(1)
        os.write(master, b'\\n')
status = os.waitpid(pid, 0)[1]
sys.stdout.buffer.write(seen)
sys.stdout.flush()
sys.exit(os.waitstatus_to_exitcode(status))
`;
