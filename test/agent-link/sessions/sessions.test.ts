import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';
import { openSession } from './session-harness.ts';

const COMMAND_BYTES = 127 * 1024;

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const open = (id?: string) => openSession(sandbox, id);

describe('between the commands of a session', () => {
  it('[WIRE-SESSION-04] directory, variables, functions, options and traps persist', async () => {
    const { run } = await open();
    await run('cd /tmp; colour=sand; greet() { echo "hello $1"; }; shopt -s nullglob; trap "echo bye" EXIT');
    const { output } = await run('pwd; echo $colour; greet you; echo /no/such/*; false');
    expect(output).toBe('/tmp\nsand\nhello you\n\n');
    expect(await run('echo status $?')).toMatchObject({ output: 'status 1\n', exitCode: 0 });
    expect(await run('exit 0')).toMatchObject({ output: 'bye\n', exitCode: 0 });
  });

  it('background jobs persist, and are waited for', async () => {
    const { run } = await open();
    await run('(exit 7) & job=$!');
    expect(await run('wait $job; echo $?')).toMatchObject({ output: '7\n' });
  });

  it('positional parameters are the caller’s, and one name is the agent’s', async () => {
    const { run } = await open();
    expect((await run('set -- a "b c"; compgen -A variable -A function | grep -i sandhaven')).output).toBe(
      '__sandhaven\n__sandhaven\n',
    );
    expect((await run('printf "%s," "$0" "$#" "$2"')).output).toBe('bash,2,b c,');
  });

  it('redirections of the shell itself and closed descriptors do no harm', async () => {
    const { run } = await open();
    expect(await run('exec 3>&- 4>&-; echo here')).toMatchObject({ output: 'here\n', exitCode: 0 });
    expect(await run('exec >/tmp/out 2>&1; echo gone')).toMatchObject({ output: '', exitCode: 0 });
    expect(await run('cat /tmp/out; exec 5<<< kept')).toMatchObject({ output: 'gone\n' });
    expect(await run('cat <&5')).toMatchObject({ output: 'kept\n' });
    expect(await run('exec >&- 2>&-; echo lost')).toMatchObject({ output: '' });
    expect(await run('echo found; ls /proc/self/fd | wc -l')).toMatchObject({ output: 'found\n5\n' });
  });

  it('functions with the names of the shell’s own tools do no harm', async () => {
    const { run } = await open();
    await run('read() { echo mine; }; printf() { :; }; eval() { :; }; TMOUT=1; IFS=abc; set -fuCx');
    expect((await run('echo traced')).output).toMatch(/^(\+\+\+ echo traced\n|traced\n){2}$/);
    expect(await run('set +x; for i in 1 2; do break; done; break; continue')).toMatchObject({ exitCode: 0 });
    // Longer than TMOUT.
    await sandbox.sh('sleep 1.5');
    expect(await run('echo b')).toMatchObject({ status: 'completed', output: 'b\n' });
  });
});

describe('a command', () => {
  it('[WIRE-SESSION-09] fails by itself when it is not complete shell, and the next one works', async () => {
    const { run } = await open();
    for (const incomplete of ['echo "open', "echo 'open", 'if true; then', 'f() {', 'echo $(', 'true &&']) {
      const { exitCode, output } = await run(incomplete);
      expect(exitCode, incomplete).toBeGreaterThan(0);
      expect(output, incomplete).toContain('unexpected');
      expect(await run('echo fine')).toMatchObject({ exitCode: 0, output: 'fine\n' });
    }
  });

  it('[WIRE-SESSION-09] with a here-document that does not end fails and does not run', async () => {
    const { run } = await open();
    const endless = await run('cat <<END\nnever printed');
    expect(endless.exitCode).toBe(2);
    expect(endless.output).toContain('delimited by end-of-file');
    expect(endless.output).not.toContain('never printed\n');
    expect(await run('cat <<END; echo $((1 << 3)) <<< "x"\ntext\nEND')).toMatchObject({
      exitCode: 0,
      output: 'text\n8\n',
    });
  });

  it('[WIRE-SESSION-05] ends with its code, and its session with it, when it exits the shell', async () => {
    for (const [command, code] of [
      ['exit 3', 3],
      ['leave() { exit 4; }; leave; echo never', 4],
      ['set -e; false; echo never', 1],
      ['exec sh -c "exit 5"', 5],
      ['kill -9 $$', 137],
      ['kill -TERM $$', 143],
    ] as const) {
      const { run, id } = await open();
      expect(await run(command), command).toEqual({ status: 'completed', exitCode: code, output: '' });
      expect(await run('true'), command).toMatchObject({ status: 'closed' });
      const { sessions } = await sandbox.agent.listSessions(sandbox.id);
      expect(sessions.map(({ sessionId }) => sessionId)).not.toContain(id);
    }
  });

  it('ends itself only when it exits in a subshell or a pipe', async () => {
    const { run } = await open();
    expect(await run('(exit 3)')).toMatchObject({ exitCode: 3 });
    expect(await run('echo x | exit 4')).toMatchObject({ exitCode: 4 });
    expect(await run('return 5; echo on')).toMatchObject({ output: expect.stringContaining('on\n') });
  });

  it('may fail where set -e allows it', async () => {
    const { run } = await open();
    await run('set -e');
    expect(await run('test -f /no/such && echo never')).toMatchObject({ status: 'completed', exitCode: 1 });
    expect(await run('! true')).toMatchObject({ exitCode: 1 });
    expect(await run('echo $?')).toMatchObject({ exitCode: 0, output: '1\n' });
    expect(await run('false; echo never')).toMatchObject({ exitCode: 1, output: '' });
    expect(await run('true')).toMatchObject({ status: 'closed' });
  });

  it('may be as long as a command of RunCommand, and hold any character', async () => {
    const { run } = await open();
    const text = `${'é'.repeat(30_000)}${'x'.repeat(COMMAND_BYTES - 60_010)}`;
    expect((await run(`printf %s '${text}' | wc -c`)).output).toBe(`${Buffer.byteLength(text)}\n`);
    expect((await run('printf %s "\u0001\u007f\\ \t\r  "')).output).toBe('\u0001\u007f\\ \t\r  ');
    await expect(run('echo \0')).rejects.toMatchObject({ code: 'invalid_argument' });
  });

  it('[WIRE-SESSION-07] waits for those before it, in order', async () => {
    const session = await open();
    const first = await session.begin('until test -e /tmp/go; do sleep 0.02; done; echo first');
    const others: string[] = [];
    // One after another: calls at once have no order.
    for (let index = 0; index < 10; index++) {
      others.push(await session.begin(`echo ${index} | tee -a /tmp/order`));
    }
    expect(await session.logs(others[0] ?? '')).toMatchObject({ status: 'queued', exitCode: null });
    expect(await session.type(others[0] ?? '', 'x')).toBe('queued');
    expect(await session.logs(first)).toMatchObject({ status: 'running', exitCode: null, output: '' });
    await sandbox.sh('touch /tmp/go');
    await session.ended(others.at(-1) ?? '');
    expect((await session.run('cat /tmp/order')).output).toBe('0\n1\n2\n3\n4\n5\n6\n7\n8\n9\n');
  });

  it('never runs when its session closes first, and reports that', async () => {
    const session = await open();
    await session.begin('sleep 0.3; exit 1');
    const queued = await session.begin('touch /tmp/ran');
    expect(await session.ended(queued)).toMatchObject({
      exitCode: 125,
      stdout: '',
      stderr: expect.stringContaining('closed before this command ran'),
    });
    expect((await sandbox.sh('ls /tmp/ran')).exitCode).toBe(2);
  });
});

describe('input', () => {
  it('[WIRE-SESSION-11] [SBX-SESSION-08] reaches read, one newline appended', async () => {
    const session = await open();
    const command = await session.begin('echo ready; read -r a; read -r b; read -r c; echo "<$a|$b|$c>"');
    await session.printed(command, 'ready');
    expect(await session.type(command, ' two  words\\n')).toBe('running');
    await session.type(command, 'second\n');
    expect((await session.ended(command)).output).toBe('ready\n<two  words\\n|second|>\n');
  });

  it('reaches prompts for passwords, which are shown, and the passwords are not', async () => {
    const session = await open();
    const silent = await session.begin('read -r -s -p "Password: " word; echo; expr length "$word"');
    await session.printed(silent, 'Password: ');
    await session.type(silent, 'open sesame');
    expect((await session.ended(silent)).output).toBe('Password: \n11\n');

    const python = await session.begin(
      'python3 -c "import getpass; print(len(getpass.getpass(\'PIN: \')))"; test -t 0 && ! test -t 1',
    );
    await session.printed(python, 'PIN: ');
    await session.type(python, '1234');
    const ended = await session.ended(python);
    expect(ended).toMatchObject({ exitCode: 0, output: expect.stringMatching(/^PIN: [^1]*4\n/) });
  });

  it('ends where end of input is typed, and what is left over does not reach the next command', async () => {
    const session = await open();
    const cat = await session.begin('echo ready; cat; stty -icanon echo; exit 2 | true');
    await session.printed(cat, 'ready');
    await session.type(cat, 'line');
    await session.type(cat, '\u0004');
    expect(await session.ended(cat)).toMatchObject({ exitCode: 0, output: 'ready\nline\n' });
    const next = await session.run(
      'read -t 0.2 left; echo "$?<$left>"; stty -a | grep -o " -\\?icanon\\| -\\?echo "',
    );
    expect(next.output).toBe('142<>\n icanon\n -echo \n');
  });

  it('[WIRE-SESSION-12] to a command that has ended is not sent', async () => {
    const session = await open();
    const command = await session.begin('true');
    await session.ended(command);
    expect(await session.type(command, 'late')).toBe('completed');
    expect((await session.run('read -t 0.1; echo "<$REPLY>"')).output).toBe('<>\n');
  });

  it('is taken by lines of what a terminal takes, and longer ones are refused', async () => {
    const session = await open();
    const command = await session.begin(
      'echo ready; read -r a; read -r b; expr length "$a"; expr length "$b"',
    );
    await session.printed(command, 'ready');
    await expect(session.type(command, 'x'.repeat(4_096))).rejects.toMatchObject({
      code: 'invalid_argument',
      fields: { parameter: 'input' },
      message: expect.stringContaining('4095'),
    });
    await session.type(command, `${'x'.repeat(4_095)}\nshort`);
    expect((await session.ended(command)).output).toBe('ready\n4095\n5\n');
  });

  it('is refused when nobody reads it and the terminal is full', async () => {
    const session = await open();
    const command = await session.begin('sleep 60');
    const much = `${'y'.repeat(1_000)}\n`.repeat(64);
    await expect(
      (async () => {
        for (let round = 0; round < 4; round++) await session.type(command, much);
      })(),
    ).rejects.toMatchObject({ code: 'failed_precondition' });
    await sandbox.sh('pkill -x sleep');
    expect(await session.ended(command)).toMatchObject({ exitCode: 143 });
    expect((await session.run('read -t 0.1; echo "<$REPLY>"')).output).toBe('<>\n');
  }, 30_000);

  it('of an interrupt ends the command and its session', async () => {
    const session = await open();
    const command = await session.begin('echo ready; sleep 60');
    await session.printed(command, 'ready');
    await session.type(command, '\u0003');
    expect(await session.ended(command)).toMatchObject({ exitCode: 130 });
    expect(await session.run('true')).toMatchObject({ status: 'closed' });
  });
});

describe('ids', () => {
  it('[WIRE-SESSION-02] of an active session are taken, of a closed one free', async () => {
    const first = await open('mine');
    await expect(open('mine')).rejects.toMatchObject({ code: 'already_exists' });
    const command = await first.begin('echo old; exit 0');
    await first.ended(command);
    const second = await open('mine');
    expect(await second.run('echo new')).toMatchObject({ output: 'new\n' });
    await expect(second.logs(command)).rejects.toMatchObject({ fields: { resource: 'command' } });
  });

  it('[WIRE-SESSION-10] has its two streams interleaved exactly as they were written', async () => {
    const session = await open();
    const written = Array.from({ length: 100 }, (_, index) => `out ${index}\nerr ${index}\n`).join('');
    for (let round = 0; round < 20; round++) {
      const command = 'for i in {0..99}; do echo "out $i"; echo "err $i" >&2; done';
      expect((await session.run(command)).output).toBe(written);
    }
  });

  it('are not found when nobody gave them', async () => {
    const { agent, id } = sandbox;
    const { id: sessionId, logs, type } = await open();
    const missing = { code: 'not_found', fields: { resource: 'session' } };
    await expect(agent.sessionCommandLogs(id, 'none', 'none')).rejects.toMatchObject(missing);
    const nowhere = { sessionId: 'none', commandId: 'c', input: 'x', command: 'true' };
    await expect(agent.sendSessionInput(id, nowhere)).rejects.toMatchObject(missing);
    await expect(
      agent.runSessionCommand(id, { ...nowhere, waitTurnMs: 0, waitRunMs: 0 }),
    ).rejects.toMatchObject(missing);
    expect(sessionId).not.toBe('none');
    for (const ask of [() => logs('none'), () => type('none', 'x')]) {
      await expect(ask()).rejects.toMatchObject({ code: 'not_found', fields: { resource: 'command' } });
    }
  });
});

it('a sandbox without bash has no session, and the error names RunCommand', async () => {
  await using bare = await startScratchSandbox();
  await bare.sh('rm $(type -ap bash)');
  await expect(openSession(bare)).rejects.toMatchObject({
    code: 'failed_precondition',
    message: expect.stringContaining('no bash'),
    fields: { resource: 'interpreter', hint: expect.stringContaining('RunCommand') },
  });
  expect((await bare.agent.listSessions(bare.id)).sessions).toEqual([]);
});
