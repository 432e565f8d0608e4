/** Python code imports as a script of the interpreter does: each import is compared with that of the same text in a file. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type ScratchSandbox, startScratchSandbox } from './scratch-sandbox.ts';

const ENV = { PATH: '/usr/local/bin:/usr/bin:/bin', HOME: '/root', LANG: 'C.UTF-8' };
const INSTALLED = '/usr/local/lib/python3.13/dist-packages';

const packages = {
  [`${INSTALLED}/plain.py`]: 'import gc\nenabled = gc.isenabled()',
  [`${INSTALLED}/outer/__init__.py`]: 'import plain\nfrom . import inner',
  [`${INSTALLED}/outer/inner.py`]: 'import json\nvalue = json.loads("7")',
  [`${INSTALLED}/spaced/part.py`]: 'value = 8',
  [`${INSTALLED}/failing.py`]: 'import plain\nraise ValueError("no")',
  [`${INSTALLED}/lacking.py`]: 'import plain\nimport absent_from_everywhere',
  [`${INSTALLED}/warning.py`]: 'import warnings\nwarnings.warn("old", DeprecationWarning, stacklevel=2)',
  [`${INSTALLED}/disabling.py`]: 'import gc\ngc.disable()',
  [`${INSTALLED}/setting.py`]: 'import gc\ngc.set_threshold(5000, 6, 7)',
  [`${INSTALLED}/cycles.py`]: `
import weakref
class Node: pass
nodes = [Node() for _ in range(50_000)]
lost = Node()
lost.self = lost
seen = weakref.ref(lost)
del lost`,
  '/workspace/other/matplotlib/artist.py': 'value = 9',
  '/workspace/own.py': 'import gc\nstate = gc.isenabled(), gc.get_threshold()',
};

const imports = {
  'its own modules': `
import own
print(own.state, own.__spec__, type(own.__loader__), vars(own.__loader__))`,
  'a module again': `
import importlib, outer.inner
print(importlib.reload(outer.inner).value, importlib.reload(outer))`,
  'packages in packages': 'import outer; print(outer.inner.value, outer.__spec__.submodule_search_locations)',
  'the parts of a namespace': 'import spaced.part; print(spaced.part.value, spaced.__file__)',
  'a package that fails': 'import outer\nimport failing',
  'a package that lacks another': 'import outer\nimport lacking',
  'a package that is not there': 'import absent_from_everywhere',
  'a package that warns its importer': 'import warning',
  'a package that turns the collector off': 'import gc, disabling; print(gc.isenabled())',
  'a package that sets the collector': 'import gc, setting; print(gc.get_threshold())',
  'packages while the collector is off': `
import gc
gc.disable()
import plain
print(plain.enabled, gc.isenabled(), gc.get_threshold())`,
  'packages while the collector never starts': `
import gc
gc.set_threshold(0)
import plain
print(plain.enabled, gc.isenabled(), gc.get_threshold())`,
  'packages among frozen objects': `
import gc
gc.freeze()
before = gc.get_freeze_count()
import plain
print(gc.get_freeze_count() == before > 0)`,
  'a package with garbage': `
import gc, cycles
print(gc.isenabled(), gc.get_threshold(), gc.get_freeze_count())
gc.collect()
print(cycles.seen())`,
  'by finders of its own': `
import gc, sys
class Finder:
    def find_spec(self, name, path=None, target=None): print("asked for", name)
sys.meta_path.insert(0, Finder())
import outer
sys.meta_path.append(sys.meta_path.pop(0))
try: import absent_from_everywhere
except ImportError as error: print(error)
print(sys.meta_path[:-1])`,
  'by a loader of its own': `
import importlib.machinery, importlib.util, pathlib
class Loader(importlib.machinery.SourceFileLoader):
    def exec_module(self, module):
        print("loads", module.__name__)
        super().exec_module(module)
for path in ["${INSTALLED}/outer/inner.py", pathlib.Path("${INSTALLED}/outer/inner.py")]:
    spec = importlib.util.spec_from_loader("mine", Loader("mine", path))
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    print(module.value)`,
  lazily: `
import importlib.util
spec = importlib.util.find_spec("outer")
print(spec == importlib.util.find_spec("outer"))
spec.loader = importlib.util.LazyLoader(spec.loader)
module = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
print(module.inner.value)`,
  'in threads at the same time': `
import gc, importlib, threading
names = ["pandas", "requests", "outer", "cycles", "matplotlib.figure"]
threads = [threading.Thread(target=importlib.import_module, args=(name,)) for name in names]
for thread in threads: thread.start()
for thread in threads: thread.join()
import outer
print(outer.inner.value, gc.isenabled(), gc.get_threshold())`,
  'another version of matplotlib': `
import sys
sys.path.insert(0, '/workspace/other')
import matplotlib.artist
print(matplotlib.artist.value)`,
  'the documentation of figures': `
import hashlib, inspect, io
import matplotlib.pyplot as plt
from matplotlib.artist import Artist, ArtistInspector
def classes(of): return {of}.union(*map(classes, of.__subclasses__()))
known = sorted(classes(Artist), key=lambda one: (one.__module__, one.__qualname__))
texts = [f"{one.set.__doc__} {inspect.signature(one.set)} {ArtistInspector(one).pprint_setters()}" for one in known]
texts += [str(value.__doc__) for name, value in sorted(vars(plt).items()) if name in plt.Axes.__dict__]
class Marked(Artist):
    def set_mark(self, mark):
        """Mark.

        ACCEPTS: first"""
shown = io.StringIO()
plt.setp(Marked(), "mark", file=shown)
Marked.set_mark.__doc__ = "Mark.\\n\\nACCEPTS: second"
plt.setp(Marked(), "mark", file=shown)
print(len(known) > 90, hashlib.sha256("\\n".join(texts).encode()).hexdigest(), shown.getvalue())`,
};

let sandbox: ScratchSandbox;
beforeAll(async () => {
  sandbox = await startScratchSandbox();
  for (const [path, text] of Object.entries(packages)) await write(path, text);
});
afterAll(() => sandbox[Symbol.asyncDispose]());

it.each(Object.entries(imports))('[SBX-CODE-01] imports as a script does: %s', async (_, code) => {
  await write('/workspace/script.py', code);
  const script = await sandbox.sh('MPLBACKEND=Agg exec python3 -u script.py', { timeoutMs: 60_000 });
  const run = await python(code);
  expect({ status: run.exitCode, output: plain(run.stdout), errors: run.stderr }).toEqual({
    status: script.exitCode,
    output: plain(script.stdout),
    errors: script.stderr.replaceAll('/workspace/script.py', '<code>'),
  });
});

it('the collector leaves alone what a package makes as it loads', async () => {
  const { stdout, stderr } = await python(`
import gc
seen = []
gc.callbacks.append(lambda phase, info: seen.append(phase))
import cycles
print(seen)
others = [[] for _ in range(50_000)]
print(len(seen) > 0)`);
  expect({ stdout, stderr }).toEqual({ stdout: '[]\nTrue\n', stderr: '' });
});

/** Without addresses of memory. */
const plain = (output: string) => output.replace(/0x[0-9a-f]+/g, '0x');

const python = (code: string) =>
  sandbox.agent.runCode(sandbox.id, { language: 'python', code, env: ENV, timeoutMs: 60_000 });

async function write(path: string, text: string): Promise<void> {
  const encoded = Buffer.from(text).toString('base64');
  await sandbox.sh(`mkdir -p "$(dirname ${path})" && echo ${encoded} | base64 -d >${path}`);
}
