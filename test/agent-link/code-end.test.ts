/** Python code ends as a script of the interpreter does: each ending is compared with that of the same text in a file. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ScratchSandbox, startScratchSandbox } from './scratch-sandbox.ts';

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
});
afterAll(() => sandbox[Symbol.asyncDispose]());

const endings = {
  'a text instead of a status': 'import sys; sys.exit("why")',
  'a status above 255': 'import sys; sys.exit(259)',
  'a status below 0': 'import sys; sys.exit(-1)',
  'a status that no integer of C holds': 'import sys; sys.exit(2 ** 70)',
  'a status that is a truth value': 'import sys; sys.exit(True)',
  'a file that a variable holds': `
file = open("held", "w")
file.write("whole")`,
  'a file in a cycle of objects': `
class Node: pass
node = Node()
node.self, node.file = node, open("cycle", "w")
node.file.write("whole")`,
  'a file that a function’s default holds': `
def write(file=open("default", "w")): file.write("whole")
write()`,
  'an archive that nobody closed': `
import zipfile
archive = zipfile.ZipFile("archive.zip", "w")
archive.writestr("name", "text")`,
  'a packed file that nobody closed': `
import gzip
packed = gzip.open("packed.gz", "wt")
packed.write("text")`,
  'a finalizer that calls functions and modules': `
import os
def say(text): print(text, os.sep)
class Noted:
    def __init__(self, name): self.name = name
    def __del__(self): say(self.name)
noted = Noted("public")
_noted = Noted("private")`,
  'a handler of the exit beside a finalizer': `
import atexit
class Noted:
    def __del__(self): print("finalizer")
noted = Noted()
atexit.register(print, "handler")`,
  'a handler of the exit that fails': `
import atexit
def fail(): raise ValueError("no")
atexit.register(print, "another")
atexit.register(fail)`,
  'a handler of the exit that exits': `
import atexit, sys
atexit.register(lambda: sys.exit(7))`,
  'a thread that goes on': `
import threading, time
threading.Thread(target=lambda: (time.sleep(0.2), print("thread"))).start()`,
  'a thread of the background': `
import threading, time
threading.Thread(target=time.sleep, args=(60,), daemon=True).start()`,
  'a thread of the background that writes': `
import ctypes, threading, time
def write():
    while True: ctypes.pythonapi.Py_IsInitialized()
threading.Thread(target=write, daemon=True).start()
time.sleep(0.1)`,
  'a pool of threads that goes on': `
import concurrent.futures, time
pool = concurrent.futures.ThreadPoolExecutor(2)
pool.submit(lambda: (time.sleep(0.2), print("pool")))`,
  'a folder that is temporary': `
import os, tempfile
folder = tempfile.TemporaryDirectory(dir=".")
print(os.path.isdir(folder.name))`,
  'output in a buffer of C': `
import ctypes
ctypes.CDLL(None).printf(b"from C\\n")`,
  'output in a buffer of its own': `
import io, sys
sys.stdout = io.TextIOWrapper(io.BufferedWriter(io.FileIO(1, "w", closefd=False)))
print("buffered")`,
  'output that is closed': 'import sys; print("before"); sys.stdout.close()',
  'output that is full': 'import sys; sys.stdout = open("/dev/full", "w"); print("lost")',
  'output that is away': 'import sys; sys.stdout = None; sys.stderr = None; sys.exit("nowhere")',
  'children that go on': `
import os, subprocess
subprocess.Popen(["sh", "-c", "sleep 0.2; echo child"])`,
  'a child that runs the same code to its end': `
import os
child = os.fork()
print("child" if child == 0 else os.waitpid(child, 0)[1])`,
  'processes of a pool that nobody closed': `
import multiprocessing
pool = multiprocessing.get_context("fork").Pool(2)
print(pool.map(len, ["a", "bb"]))`,
  'numbers of a library': 'import numpy; print(numpy.ones(3).sum())',
};

it.each(Object.entries(endings))('[SBX-CODE-01] ends as a script does, with %s', async (_, code) => {
  const folder = '/workspace/ending';
  const text = Buffer.from(code).toString('base64');
  const fresh = `rm -rf ${folder} && mkdir ${folder} && cd ${folder}`;
  const files = `cd ${folder} && ls && for f in *; do [ -f "$f" ] && (zcat -f "$f" || cat "$f") | tr -d '\\0' | tail -c 20; done`;

  await sandbox.sh(fresh);
  const script = await sandbox.sh(
    `cd ${folder} && echo ${text} | base64 -d >/tmp/script.py && exec python3 -u /tmp/script.py`,
  );
  const filesOfScript = (await sandbox.sh(files)).stdout;

  await sandbox.sh(fresh);
  const env = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/root', LANG: 'C.UTF-8' };
  const moved = `import os; os.chdir("${folder}")\n${code}`;
  const run = await sandbox.agent.runCode(sandbox.id, {
    language: 'python',
    code: moved,
    env,
    timeoutMs: 30_000,
  });

  expect({ status: run.exitCode, output: run.stdout, errors: plain(run.stderr) }).toEqual({
    status: script.exitCode,
    output: script.stdout,
    errors: plain(script.stderr),
  });
  expect((await sandbox.sh(files)).stdout).toBe(filesOfScript);
});

/** Without what differs by the name of the file, and by the place in it. */
function plain(errors: string): string {
  return errors
    .split('\n')
    .filter((line) => !/^ {2}|^Exception ignored|^Traceback/.test(line))
    .join('\n')
    .replace(/0x[0-9a-f]+/g, '0x');
}
