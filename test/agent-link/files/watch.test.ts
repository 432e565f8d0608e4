/** Watches of files by a real agent: what is reported of each change, what bounds a watch, and where it may look. */
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import type { FileChange, WatchRequest } from '../../../src/control/ports/index.ts';
import { type ScratchSandbox, startScratchSandbox } from '../scratch-sandbox.ts';

const FOLDERS = 8_192;
const STREAMS = 16;

let sandbox: ScratchSandbox;
let leaving: (() => Promise<void>)[] = [];

beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterEach(async () => {
  await Promise.all(leaving.map((leave) => leave()));
  leaving = [];
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const sh = async (command: string) => {
  const { exitCode, output } = await sandbox.sh(command, { timeoutMs: 60_000 });
  if (exitCode !== 0) throw new Error(output);
  return output;
};

interface Watch {
  seen: FileChange[];
  /** `gone`, or the error that ended it. */
  ended: Promise<unknown>;
  leave(): Promise<void>;
}

/** Resolves once the folder is watched. @param room Makes the host take nothing more until then. */
async function watch(path: string, more: Partial<WatchRequest> = {}, room?: Promise<void>): Promise<Watch> {
  const seen: FileChange[] = [];
  const left = new AbortController();
  const begun = Promise.withResolvers<void>();
  const sink = {
    begun: begun.resolve,
    changed(changes: FileChange[]) {
      seen.push(...changes);
      return room;
    },
  };
  const request = { path, recursive: true, ...more };
  const watching = sandbox.agent.watchFiles(sandbox.id, request, sink, left.signal);
  const ended = watching.then(
    () => 'gone',
    (error: unknown) => error,
  );
  const leave = async () => {
    left.abort();
    await ended;
  };
  leaving.push(leave);
  await Promise.race([begun.promise, watching]);
  return { seen, ended, leave };
}

/** What came, in short: the type, the path, and a slash behind a folder. */
const short = ({ seen }: Watch) =>
  seen.map((change) => {
    if (change.type === 'overflow') return 'overflow';
    const slash = change.folder ? '/' : '';
    const from = change.type === 'renamed' ? `${change.from}${slash} -> ` : '';
    return `${change.type} ${from}${change.path}${slash}`;
  });

/** The changes that came until a file was made to mark their end. */
async function changesBy(folder: string, command: string, watched?: Watch): Promise<string[]> {
  const own = watched ?? (await watch(folder));
  const before = own.seen.length;
  await sh(`cd '${folder}' && ${command}`);
  await sh(`mkdir '${folder}/.end'`);
  const since = () => short(own).slice(before);
  const marked = () => since().some((line) => line.includes('.end/'));
  await expect.poll(marked, { timeout: 20_000, interval: 20 }).toBe(true);
  await sh(`rmdir '${folder}/.end'`);
  await expect.poll(() => since().at(-1), { timeout: 5_000 }).toMatch(/^removed .*\.end\/$/);
  return since().filter((line) => !line.includes('.end/'));
}

/** A folder of this name that is there and empty. */
async function fresh(name: string): Promise<string> {
  await sh(`rm -rf '${name}' && mkdir -p '${name}'`);
  return name;
}

describe('of a file, a watch reports', () => {
  it('that it came, was written, got attributes and went, each once however often in a short time', async () => {
    const name = await fresh('one');
    const seen = await changesBy(name, 'for i in {1..2000}; do echo $i; done > a; chmod 600 a; rm a');
    const all = ['created one/a', 'written one/a', 'attributes one/a', 'removed one/a'];
    expect(seen.filter((line, at) => line !== seen[at - 1])).toEqual(all);
    expect(seen.length).toBeLessThan(40);
  });

  it('each time that it comes and goes', async () => {
    const name = await fresh('again');
    const one = ['created again/a', 'written again/a', 'removed again/a'];
    expect(await changesBy(name, 'for i in 1 2; do echo > a; rm a; done')).toEqual([...one, ...one]);
  });

  it('a rename within, in and out', async () => {
    const name = await fresh('renamed');
    await sh('rm -rf /tmp/out && mkdir /tmp/out && echo > /tmp/out/in && echo > renamed/a');
    expect(await changesBy(name, 'mv a b; mv /tmp/out/in c; mv b /tmp/out/b')).toEqual([
      'renamed renamed/a -> renamed/b',
      // /tmp is the same file system here, so that nothing is copied.
      ...['created renamed/c', 'removed renamed/b'],
    ]);
  });

  it('its name once it has one, and one that looks like that of a file without', async () => {
    const name = await fresh('unnamed');
    const watched = await watch(name);
    await sandbox.agent.write(sandbox.id, {
      ...{ path: 'unnamed/a', content: Buffer.from('x'), createParents: false, mode: 0o600 },
    });
    const seen = await changesBy(name, "touch '#1' && chmod 600 '#1'", watched);
    expect(seen).toContain('attributes unnamed/#1');
    const paths = watched.seen.flatMap((change) => ('path' in change ? [change.path] : []));
    expect(new Set(paths)).toEqual(new Set(['unnamed/a', 'unnamed/#1', 'unnamed/.end']));
  });

  it('its name as other calls take it, whatever its bytes', async () => {
    const name = await fresh('bytes');
    const seen = await changesBy(name, `touch "$(printf 'a\\377')"`);
    expect(seen[0]).toBe('created bytes/a\uf7ff');
    await sh('rm -rf /srv/w && mkdir -p /srv/w');
    expect((await changesBy('/srv/w', 'echo > x'))[0]).toBe('created /srv/w/x');
  });
});

describe('of folders, a recursive watch reports', () => {
  it('a deep tree that is made at once, each entry once, and what comes in it later', async () => {
    const name = await fresh('deep');
    const watched = await watch(name);
    const made = await changesBy(name, 'mkdir -p a/b/c/d/e && touch a/b/c/d/e/x a/b/y', watched);
    expect(made.filter((line) => line.startsWith('created')).toSorted()).toEqual([
      ...['created deep/a/', 'created deep/a/b/', 'created deep/a/b/c/', 'created deep/a/b/c/d/'],
      ...['created deep/a/b/c/d/e/', 'created deep/a/b/c/d/e/x', 'created deep/a/b/y'],
    ]);
    expect(await changesBy(name, 'echo > a/b/c/d/e/z', watched)).toEqual([
      ...['created deep/a/b/c/d/e/z', 'written deep/a/b/c/d/e/z'],
    ]);
  });

  it('a thousand files at once, each once', async () => {
    const name = await fresh('thousand');
    const seen = await changesBy(name, 'mkdir in && touch in/{1..1000}');
    const created = seen.filter((line) => line.startsWith('created')).toSorted();
    const files = Array.from({ length: 1_000 }, (_, at) => `created thousand/in/${at + 1}`);
    expect(created).toEqual(['created thousand/in/', ...files].toSorted());
    expect(seen).not.toContain('overflow');
  });

  it('a renamed folder, whose entries have their new paths from then on', async () => {
    const name = await fresh('moved');
    await sh('mkdir -p moved/a/b');
    const watched = await watch(name);
    expect(await changesBy(name, 'mv a z', watched)).toEqual(['renamed moved/a/ -> moved/z/']);
    expect(await changesBy(name, 'echo > z/b/x', watched)).toEqual([
      'created moved/z/b/x',
      'written moved/z/b/x',
    ]);
  });

  it('a folder that comes from outside, with all in it, and nothing of one that has left', async () => {
    const name = await fresh('inout');
    await sh('rm -rf /tmp/tree /tmp/left && mkdir -p /tmp/tree/b && echo > /tmp/tree/b/x');
    const watched = await watch(name);
    expect((await changesBy(name, 'mv /tmp/tree t', watched)).toSorted()).toEqual([
      ...['created inout/t/', 'created inout/t/b/', 'created inout/t/b/x'],
    ]);
    expect(await changesBy(name, 'mv t /tmp/left; echo > /tmp/left/b/y', watched)).toEqual([
      'removed inout/t/',
    ]);
  });

  it('not what happens behind a link', async () => {
    const name = await fresh('links');
    await sh('rm -rf /tmp/behind && mkdir /tmp/behind && ln -s /tmp/behind links/link');
    expect(await changesBy(name, 'ln -s /tmp/behind other; echo > link/x; echo > other/y')).toEqual([
      ...['created links/other'],
    ]);
  });

  it('nothing below them where it is not recursive', async () => {
    const name = await fresh('flat');
    await sh('mkdir flat/a');
    const watched = await watch(name, { recursive: false });
    expect(await changesBy(name, 'echo > a/x; mkdir b; echo > b/y; mv b c', watched)).toEqual([
      ...['created flat/b/', 'renamed flat/b/ -> flat/c/'],
    ]);
  });

  it('of many changes in a row exactly what is there in the end', async () => {
    const program = `
import os, random, shutil, sys, time
random.seed(int(sys.argv[1]))
names = ['a', 'b', 'c']
for at in range(300):
    place = '/'.join(random.choices(names, k=random.randint(1, 3)))
    other = '/'.join(random.choices(names, k=random.randint(1, 3)))
    try:
        act = random.random()
        if act < 0.3: os.makedirs(place)
        elif act < 0.6: open(place, 'w').close()
        elif act < 0.85: os.rename(place, other)
        else: shutil.rmtree(place) if os.path.isdir(place) else os.remove(place)
    except OSError: pass
    if random.random() < 0.1: time.sleep(random.random() * 0.08)
`;
    await sandbox.agent.write(sandbox.id, {
      ...{ path: '/tmp/changes.py', content: Buffer.from(program), createParents: true },
    });
    let exact = 0;
    for (let seed = 1; seed <= 8; seed++) {
      const name = await fresh(`many${seed}`);
      const watched = await watch(name);
      await changesBy(name, `python3 /tmp/changes.py ${seed}`, watched);
      if (watched.seen.some(({ type }) => type === 'overflow')) continue;
      exact += 1;
      const listed = (await sh(`cd ${name} && find . -mindepth 1 -printf '%P\\n' | sort`)).split('\n');
      expect([...replayed(watched.seen, name)].toSorted(), `seed ${seed}`).toEqual(
        listed.filter(Boolean).toSorted(),
      );
    }
    expect(exact).toBeGreaterThan(4);
  }, 60_000);
});

/** The entries that there are after these changes. */
function replayed(changes: FileChange[], top: string): Set<string> {
  const there = new Set<string>();
  const below = (path: string) => [...there].filter((one) => one === path || one.startsWith(`${path}/`));
  const forget = (path: string) => {
    for (const one of below(path)) there.delete(one);
  };
  for (const change of changes) {
    if (change.type === 'created') there.add(change.path);
    else if (change.type === 'removed') forget(change.path);
    else if (change.type === 'renamed') {
      const moved = below(change.from).map((one) => change.path + one.slice(change.from.length));
      forget(change.from);
      forget(change.path);
      for (const one of [change.path, ...moved]) there.add(one);
    }
  }
  return new Set([...there].map((path) => path.slice(top.length + 1)));
}

describe('a watch ends', () => {
  it.each(['rm -r gone', 'mv gone gone-elsewhere'])('by %s', async (command) => {
    await fresh('gone');
    await sh('rm -rf gone-elsewhere; mkdir gone/a');
    const { ended } = await watch('gone');
    await sh(command);
    expect(await ended).toBe('gone');
  });

  it('when its host hangs up, and its place is free then', async () => {
    const name = await fresh('places');
    const watches = await Promise.all(Array.from({ length: STREAMS }, () => watch(name)));
    await expect(watch(name)).rejects.toMatchObject({
      code: 'resource_exhausted',
      fields: { hint: 'End one of them, then try again.' },
    });
    await watches[0]?.leave();
    await expect
      .poll(() =>
        watch(name).then(
          () => true,
          () => false,
        ),
      )
      .toBe(true);
  });
});

describe('a watch is bounded:', () => {
  it('a slow reader gets one overflow in place of what was missed, and all that comes after it', async () => {
    const name = await fresh('slow');
    const room = Promise.withResolvers<void>();
    const watched = await watch(name, {}, room.promise);
    await sh('cd slow && seq 1 40000 | xargs touch && mkdir -p later/below');
    expect(watched.seen.length).toBeLessThan(40_000);
    room.resolve();
    const hasOverflow = () => short(watched).includes('overflow');
    await expect.poll(hasOverflow, { timeout: 20_000 }).toBe(true);
    expect(await changesBy(name, 'echo > later/below/x', watched)).toEqual([
      ...['created slow/later/below/x', 'written slow/later/below/x'],
    ]);
    expect(short(watched).filter((line) => line === 'overflow')).toHaveLength(1);
  }, 60_000);

  it('one stream has 8,192 folders, and says what to do', async () => {
    const name = await fresh('bound');
    await sh(`cd bound && seq 1 ${FOLDERS - 1} | xargs mkdir`);
    const { ended } = await watch(name);
    const tooMany = {
      code: 'resource_exhausted',
      detail: `'bound' has more than ${FOLDERS} folders.`,
      fields: { hint: 'Watch a folder further down, or leave out its folders.' },
    };
    await sh('mkdir bound/one-more');
    expect(await ended).toMatchObject({
      code: tooMany.code,
      message: tooMany.detail,
      fields: tooMany.fields,
    });
    await expect(watch(name)).rejects.toMatchObject({ code: 'resource_exhausted' });
    await watch(name, { recursive: false });
  }, 60_000);

  it('all streams of a sandbox have 32,768 folders', async () => {
    const name = await fresh('all');
    await sh(`cd all && seq 1 ${FOLDERS - 1} | xargs mkdir`);
    const opened: Watch[] = [];
    const refused = await (async () => {
      for (;;) opened.push(await watch(name));
    })().catch((error: unknown) => error);
    expect(refused).toMatchObject({
      code: 'resource_exhausted',
      message: expect.stringContaining('the most of all together'),
    });
    const kernels = Number(await sh('cat /proc/sys/fs/inotify/max_user_watches'));
    expect(opened).toHaveLength(Math.floor(Math.min(32_768, kernels / 2) / FOLDERS));
  }, 60_000);

  it('the agent answers others while a large tree is walked', async () => {
    await sh('rm -rf large && mkdir large && cd large && seq 1 8000 | xargs mkdir');
    const watching = watch('large');
    const times: number[] = [];
    for (let at = 0; at < 20; at++) {
      const begin = performance.now();
      await sandbox.agent.stat(sandbox.id, { path: '/' });
      times.push(performance.now() - begin);
      await sleep(2);
    }
    await watching;
    expect(times.toSorted((a, b) => a - b)[10]).toBeLessThan(200);
  }, 60_000);
});

describe('a watch is opened', () => {
  it('in the name of a user, who watches what that one may read', async () => {
    await sh('rm -rf /srv/u && mkdir -p /srv/u/open /srv/u/closed/below && chmod 700 /srv/u/closed');
    const watched = await watch('/srv/u', { user: 'ann' });
    expect(await changesBy('/srv/u', 'echo > open/x; echo > closed/y; mkdir closed/z', watched)).toEqual([
      ...['created /srv/u/open/x', 'written /srv/u/open/x'],
    ]);
    await expect(watch('/srv/u/closed', { user: 'ann' })).rejects.toMatchObject({
      code: 'permission_denied',
    });
    const home = await watch('.', { user: 'ann' });
    await sh('echo > /home/ann/note');
    await expect.poll(() => short(home)).toEqual(['created note', 'written note']);
  });

  it('by a link, under the name of the link', async () => {
    await fresh('target');
    await sh('rm -f by-link && ln -s target by-link');
    expect((await changesBy('by-link', 'echo > x'))[0]).toBe('created by-link/x');
  });

  it.each(['/proc/1', '/proc/self', '/proc/self/fd', '/proc/1/task', 'to-proc', 'to-fds'])(
    'not of the agent itself: %s',
    async (path) => {
      await sh('ln -sfn /proc/1 to-proc; ln -sfn /proc/self/fd to-fds');
      for (const recursive of [true, false]) {
        await expect(watch(path, { recursive })).rejects.toMatchObject({ code: 'permission_denied' });
      }
    },
  );

  it.each([
    ['/proc', 'failed_precondition'],
    ['/proc/sys', 'failed_precondition'],
    ['no-such-folder', 'not_found'],
    ['/etc/passwd', 'invalid_argument'],
  ])('not of %s, which is %s', async (path, code) => {
    await expect(watch(path)).rejects.toMatchObject({ code });
  });

  it('of the whole sandbox, without what the kernel generates', async () => {
    const watched = await watch('/', { recursive: false });
    await sh('mkdir /new-at-top');
    await expect.poll(() => short(watched)).toContain('created /new-at-top/');
  });
});
