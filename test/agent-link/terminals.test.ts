/** Terminals of the real agent, which go on without viewers. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { encodeJson, frameHeader, frameTypes } from '../../src/agent-link/frames.ts';
import type { TerminalRequest, TerminalSize, TerminalView } from '../../src/control/ports/index.ts';
import { type ScratchSandbox, startScratchSandbox } from './scratch-sandbox.ts';

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

afterEach(async () => {
  const { terminals } = await sandbox.agent.listTerminals(sandbox.id);
  await Promise.all(terminals.map(({ terminalId }) => sandbox.agent.endTerminal(sandbox.id, terminalId)));
});

const ENV = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  PS1: '$ ',
  TERM: 'xterm',
};
/** Prompts and nothing else. */
const create = { argv: ['bash', '--norc', '--noprofile'], cwd: '.', env: ENV };
const usual: TerminalRequest = { terminalId: 'main', size: { columns: 80, rows: 24 }, create };

/** A viewer and what it has seen. */
class Seen {
  readonly view: TerminalView;
  text = '';
  bytes = 0;
  skipped = 0;
  readonly sizes: TerminalSize[] = [];
  /** false: takes no more. */
  reads = true;

  constructor(view: TerminalView) {
    this.view = view;
    view.show({
      data: (piece) => {
        this.bytes += piece.length;
        this.text += piece.toString('latin1');
        if (this.text.length > 600_000) this.text = this.text.slice(-300_000);
        return this.reads;
      },
      skipped: (bytes) => {
        this.skipped += bytes;
        return this.reads;
      },
      resized: (size) => {
        this.sizes.push(size);
        return this.reads;
      },
    });
  }

  type(line: string): void {
    this.view.input.write(`${line}\r`);
  }

  async until(words: string): Promise<void> {
    await expect.poll(() => this.text.includes(words) || this.text.slice(-500), { interval: 10 }).toBe(true);
  }
}

async function open(request: Partial<TerminalRequest> = {}): Promise<Seen> {
  return new Seen(await sandbox.agent.openTerminal(sandbox.id, { ...usual, ...request }));
}

const list = () => sandbox.agent.listTerminals(sandbox.id);
const agentKilobytes = async () =>
  Number((await sandbox.sh("awk '/^RssAnon/ { print $2 }' /proc/1/status")).stdout);

describe('a terminal', () => {
  it('is one to its programs, of the size of its viewer', async () => {
    const seen = await open({ size: { columns: 132, rows: 43 } });
    expect(seen.view).toMatchObject({ created: true, size: { columns: 132, rows: 43 }, scrollbackBytes: 0 });
    seen.type('tty -s && echo "is one: $(stty size) $TERM $PWD"');
    await seen.until('is one: 43 132 xterm /workspace');
  });

  it('goes on without viewers, and shows the next one what it has printed', async () => {
    const first = await open();
    first.type('x=kept; for i in 1 2 3; do sleep 0.1; echo "line $i"; done; echo do""ne');
    await first.until('line 1');
    first.view.detach();
    await expect(first.view.ended).rejects.toMatchObject({ code: 'unavailable' });
    await sleep(500);
    const second = await open();
    expect(second.view.created).toBe(false);
    expect(second.view.scrollbackBytes).toBeGreaterThan(60);
    await second.until('line 3\r\ndone\r\n');
    second.type('echo "x is $x"');
    await second.until('x is kept');
  });

  it('shows all its viewers the same, whoever types', async () => {
    const [one, other] = [await open(), await open()];
    one.type('echo from o""ne');
    await other.until('from one\r\n');
    other.type('echo from oth""er');
    await one.until('from other\r\n');
    await expect.poll(() => one.text).toBe(other.text);
  });

  it('is made once, by however many at once', async () => {
    const views = await Promise.all(Array.from({ length: 8 }, () => open()));
    expect(views.filter(({ view }) => view.created)).toHaveLength(1);
    expect((await list()).terminals).toMatchObject([{ terminalId: 'main', viewers: 8 }]);
  });

  it('ends with its shell, for all its viewers, and is gone then', async () => {
    const [one, other] = [await open(), await open({ size: null })];
    one.type('echo last; exit 7');
    expect(await one.view.ended).toEqual({ exitCode: 7, signal: null });
    expect(await other.view.ended).toEqual({ exitCode: 7, signal: null });
    expect(other.text).toContain('last\r\n');
    expect((await list()).terminals).toEqual([]);
    await expect(open({ create: null })).rejects.toMatchObject({
      ...{ code: 'not_found', fields: { resource: 'terminal' } },
    });
  });

  it('is ended with what runs in it, even what does not mind', async () => {
    const seen = await open();
    seen.type("trap '' HUP TERM; (setsid sleep 3001 &); sleep 3001");
    await expect.poll(async () => (await sandbox.sh('pgrep -fc "^sleep 3001"')).stdout).toBe('2\n');
    await sandbox.agent.endTerminal(sandbox.id, 'main');
    expect(await seen.view.ended).toEqual({ exitCode: 137, signal: 'SIGKILL' });
    await expect.poll(async () => (await sandbox.sh('pgrep -fc "^sleep 3001"')).stdout).toBe('0\n');
    await expect(sandbox.agent.endTerminal(sandbox.id, 'main')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('is hung up on first, as by any terminal that goes', async () => {
    const seen = await open();
    // A handler must not print by what the program may be printing with.
    const program =
      "import os, signal, time; signal.signal(1, lambda *_: (os.write(1, b'hung ' + b'up'), os._exit(4)))";
    seen.type(`python3 -c "${program}; print('rea' + 'dy'); time.sleep(100)"`);
    await seen.until('ready\r\n');
    await sandbox.agent.endTerminal(sandbox.id, 'main');
    expect(await seen.view.ended).toEqual({ exitCode: 129, signal: 'SIGHUP' });
    expect(seen.text).toContain('hung up');
  });

  it('leaves what was put into the background when its shell ends', async () => {
    const seen = await open();
    seen.type('(setsid sleep 3002 &) ; exit');
    await seen.view.ended;
    expect((await sandbox.sh('pkill -fc "^sleep 3002"')).exitCode).toBe(0);
  });

  it('says why it cannot be made', async () => {
    const made = (more: object) => open({ create: { ...create, ...more } });
    await expect(made({ argv: ['fish'] })).rejects.toMatchObject({
      ...{ code: 'failed_precondition', fields: { resource: 'interpreter' } },
    });
    await expect(made({ cwd: 'nowhere' })).rejects.toMatchObject({
      ...{ code: 'not_found', fields: { parameter: 'cwd' } },
    });
    await expect(open({ terminalId: '' })).rejects.toMatchObject({ code: 'invalid_argument' });
    expect((await list()).terminals).toEqual([]);
  });
});

describe('its size', () => {
  it('is that of the viewer who was last at work, and the others hear of it', async () => {
    const wide = await open({ size: { columns: 120, rows: 40 } });
    const small = await open({ size: { columns: 60, rows: 20 } });
    await expect.poll(() => wide.sizes).toEqual([{ columns: 60, rows: 20 }]);
    wide.type('stty size');
    await wide.until('40 120\r\n');
    small.view.resize({ columns: 61, rows: 21 });
    await expect.poll(() => wide.sizes.at(-1)).toEqual({ columns: 61, rows: 21 });
    small.view.detach();
    await expect.poll(() => wide.sizes.at(-1)).toEqual({ columns: 120, rows: 40 });
  });

  it('reaches a program that waits for it', async () => {
    const seen = await open();
    seen.type(`bash -c 'trap "stty size" WINCH; echo re""ady; while sleep 0.1; do :; done'`);
    await seen.until('ready');
    seen.view.resize({ columns: 100, rows: 33 });
    await seen.until('33 100\r\n');
  });
});

describe('a viewer who is too slow', () => {
  it('loses bytes, and neither the program nor the others wait', async () => {
    const quick = await open();
    const slow = await open({ size: null });
    slow.reads = false;
    quick.type('seq 1000000; echo "the e"nd');
    await quick.until('the end');
    slow.reads = true;
    slow.view.resume();
    await slow.until('1000000\r\nthe end');
    expect(slow.skipped).toBeGreaterThan(3_000_000);
    // 7,888,896 bytes were printed.
    expect(slow.skipped + slow.bytes).toBeGreaterThan(7_800_000);
    expect(slow.skipped + slow.bytes).toBeLessThan(8_000_000);
  });

  it('costs no memory, whatever is printed', async () => {
    const seen = await open();
    await open({ terminalId: 'other' });
    seen.type('head -c 1000000 /dev/zero | tr "\\0" x; echo "war"m');
    await seen.until('warm');
    const before = await agentKilobytes();
    seen.reads = false;
    seen.type('head -c 50000000 /dev/zero | tr "\\0" y; touch printed');
    await expect.poll(async () => (await sandbox.sh('ls printed')).exitCode, { timeout: 20_000 }).toBe(0);
    expect((await agentKilobytes()) - before).toBeLessThan(2_000);
  });
});

describe('a program on the whole screen', () => {
  it('is shown with its modes when the beginning of its picture is not kept, and paints anew', async () => {
    const first = await open();
    const program =
      'import signal, sys, time; w = sys.stdout.write; w("\\x1b[?1049h\\x1b[?25l" + "x" * 400000); ' +
      'signal.signal(28, lambda *_: w("painted anew")); w("shown"); sys.stdout.flush()\n' +
      'while True: time.sleep(0.05); sys.stdout.flush()';
    await sandbox.sh(`cat > screen.py <<'END'\n${program}\nEND`);
    first.type('python3 screen.py');
    await first.until('shown');
    first.view.detach();
    await sleep(100);
    const second = await open();
    await second.until('painted anew');
    const [before = ''] = second.text.split('xxx', 1);
    expect(before.startsWith('\x18')).toBe(true);
    expect(before).toContain('\x1b[?1049h');
    expect(before).toContain('\x1b[?25l');
  });
});

describe('the list', () => {
  it('knows the programs, and since when nothing was done', async () => {
    const seen = await open();
    await open({ terminalId: 'build', size: { columns: 100, rows: 30 } });
    const each = { viewers: 1, program: 'bash', busy: false };
    // Until its exec the program has the agent's name.
    await expect
      .poll(async () => (await list()).terminals, { interval: 20 })
      .toMatchObject([
        { ...each, terminalId: 'main', size: { columns: 80, rows: 24 } },
        { ...each, terminalId: 'build', size: { columns: 100, rows: 30 } },
      ]);
    seen.type('sleep 2');
    // Between its fork and its exec it is a second shell.
    await expect
      .poll(async () => (await list()).terminals[0], { interval: 20 })
      .toMatchObject({ program: 'sleep', busy: true });
    let lastBusy = 0;
    const isBusy = async () => {
      const asked = performance.now();
      const { busy } = await list();
      if (busy) lastBusy = asked;
      return busy;
    };
    await expect.poll(isBusy, { interval: 20 }).toBe(false);
    expect(lastBusy).toBeGreaterThan(0);
    const { idleMs } = await list();
    expect(idleMs).toBeLessThanOrEqual(performance.now() - lastBusy);
  });

  it('counts a program as work until it ends, also when the prompt comes later', async () => {
    const seen = await open();
    seen.type('mkfifo never; PROMPT_COMMAND="read -t 2 <> never"; sleep 1');
    let lastAsleep = 0;
    const program = async () => {
      const asked = performance.now();
      const name = (await list()).terminals[0]?.program;
      if (name === 'sleep') lastAsleep = asked;
      return name;
    };
    await expect.poll(program, { interval: 20 }).toBe('sleep');
    await expect.poll(program, { interval: 20 }).toBe('bash');
    const { idleMs } = await list();
    expect(idleMs).toBeLessThanOrEqual(performance.now() - lastAsleep);
  });

  it('counts no jobs in the background', async () => {
    const seen = await open();
    seen.type('while sleep 0.1; do echo "a j"ob; done &');
    await seen.until('a job');
    const before = (await list()).idleMs ?? 0;
    await sleep(600);
    const { busy, idleMs } = await list();
    expect(busy).toBe(false);
    expect(idleMs).toBeGreaterThan(before + 500);
  });

  it('is bounded', async () => {
    await Promise.all(Array.from({ length: 32 }, (_, at) => open({ terminalId: `t${at}` })));
    await expect(open({ terminalId: 'more' })).rejects.toMatchObject({ code: 'resource_exhausted' });
    expect((await list()).terminals).toHaveLength(32);
    await sandbox.agent.endTerminal(sandbox.id, 't7');
    await open({ terminalId: 'more' });
  });
});

describe('a host that breaks the protocol', () => {
  const request = { v: 4, op: 'terminal_open', terminal_id: 'main', create };
  it.each([
    ['with an end', frameHeader(frameTypes.end, 0)],
    ['with an unknown item', encodeJson(frameTypes.item, { signal: 'TERM' })],
    ['with a size that is none', encodeJson(frameTypes.item, { resize: { columns: -1, rows: 2 } })],
    ['with a second request', encodeJson(frameTypes.request, request)],
    ['with a frame that is none', Buffer.from('0000000009', 'hex')],
  ])('%s has left, and the terminal goes on', async (_how, breach) => {
    const seen = await open();
    const channel = await sandbox.openChannel();
    channel.on('error', () => {});
    channel.write(encodeJson(frameTypes.request, request));
    await expect.poll(async () => (await list()).terminals[0]?.viewers).toBe(2);
    channel.write(breach);
    channel.resume();
    await expect.poll(async () => (await list()).terminals[0]?.viewers).toBe(1);
    channel.destroy();
    seen.type('echo still he""re');
    await seen.until('still here');
  });
});

it('the end of the sandbox leaves no viewer waiting', async () => {
  await using other = await startScratchSandbox();
  const seen = new Seen(await other.agent.openTerminal(other.id, usual));
  // From its prompt on a shell ignores SIGTERM; before, it ends by that.
  await seen.until('$ ');
  const outcome = expect(seen.view.ended).rejects.toMatchObject({ code: 'unavailable' });
  await other.terminate();
  await outcome;
});
