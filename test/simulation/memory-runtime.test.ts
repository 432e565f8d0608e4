/** The runtime in memory does what the engine does: the suite is the engine's own. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Inside, runtimeConformance } from '../runtime/conformance.ts';
import { createFakeAgent } from './host/fake-agent.ts';
import { type Archive, MemoryHost, packed } from './host/memory-host.ts';
import { digestOf } from './host/memory-images.ts';
import { createMemoryRuntime } from './host/memory-runtime.ts';

/** Long enough for a start to be canceled in its midst. */
const POINT_MS = 5;

runtimeConformance('the runtime in memory', async () => {
  const host = new MemoryHost();
  const point = () => sleep(POINT_MS);
  const imageDigest = digestOf('base');
  host.images.set(imageDigest, { digest: imageDigest, reference: 'base', usedAt: 0 });
  const open = () => createMemoryRuntime({ host, point });
  const archiveOf = (id: string): Archive => {
    const { archive } = host.of(id);
    if (!archive) throw new Error('there is no archive');
    return archive;
  };
  return {
    runtime: open(),
    again: async () => open(),
    imageDigest,
    inside: insideOf(host),
    async damageArchive(id) {
      const { disk } = archiveOf(id);
      host.of(id).archive = packed({ ...disk, files: new Map([...disk.files, ['damage', '']]) });
    },
    async exchangeArchives(one, other) {
      [host.of(one).archive, host.of(other).archive] = [archiveOf(other), archiveOf(one)];
    },
    traces: (id) => (host.sandboxes.has(id) ? [`folder ${id}`] : []),
    remove: async () => {},
  };
});

function insideOf(host: MemoryHost): Inside {
  const point = async () => {};
  const agent = createFakeAgent({ host, point, answer: point, idleMs: () => null });
  return {
    async write(_, id, path, text) {
      await agent.write(id, { path, content: Buffer.from(text), createParents: false });
    },
    read: (_, id, path) =>
      agent.read(id, { path }).then(
        ({ content }) => content.toString(),
        () => null,
      ),
    boot: async (_, id) => String(host.running(id)?.boot),
    endInit: async (_, id) => host.endInit(id),
  };
}
