import { readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type Inside, runtimeConformance } from './conformance.ts';
import { createInstance, execIn, removeInstance, runtimeOver, tracesOf } from './host.ts';
import { type LinuxRuntimeUnderTest, linuxConformance } from './linux-conformance.ts';

runtimeConformance('the OCI runtime', openHost);
linuxConformance('the OCI runtime', openHost);

async function openHost(): Promise<LinuxRuntimeUnderTest> {
  const instance = createInstance();
  const runtime = runtimeOver(instance);
  await runtime.init();
  const archive = (id: string): string => join(instance.dataDir, 'sandboxes', id, 'archive.tar.zst');
  return {
    runtime,
    async again() {
      const other = runtimeOver(instance);
      await other.init();
      return other;
    },
    imageDigest: 'base',
    exec: execIn,
    inside,
    async damageArchive(id) {
      const bytes = await readFile(archive(id));
      const middle = Math.floor(bytes.length / 2);
      bytes.writeUInt8(bytes.readUInt8(middle) ^ 1, middle);
      await writeFile(archive(id), bytes);
    },
    async exchangeArchives(one, other) {
      await rename(archive(one), `${archive(one)}.aside`);
      await rename(archive(other), archive(one));
      await rename(`${archive(one)}.aside`, archive(other));
    },
    traces: (id) => tracesOf(instance, id),
    remove: () => removeInstance(instance),
  };
}

const inside: Inside = {
  write: (runtime, id, name, text) => succeed(execIn(runtime, id, `printf %s '${text}' > '/root/${name}'`)),
  async read(runtime, id, name) {
    const { exitCode, output } = await execIn(runtime, id, `cat '/root/${name}'`);
    return exitCode === 0 ? output : null;
  },
  boot: async (runtime, id) => (await execIn(runtime, id, 'cut -d" " -f22 /proc/1/stat')).output,
  // Its answer is lost with it.
  endInit: (runtime, id) =>
    execIn(runtime, id, 'kill -TERM 1').then(
      () => {},
      () => {},
    ),
};

async function succeed(work: ReturnType<typeof execIn>): Promise<void> {
  const { exitCode, output } = await work;
  if (exitCode !== 0) throw new Error(output);
}
