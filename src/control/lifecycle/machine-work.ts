/** Work of each operation on a machine. Called in the sandbox's turn; the caller settles the operation. */
import { inSpan } from '../../concurrency/span.ts';
import { deletedByStop } from '../../model/lifecycle.ts';
import { limits } from '../../model/limits.ts';
import type { ArchiveRecord, Sandbox } from '../../model/sandbox.ts';
import type { AgentLink, Images, Runtime } from '../ports/index.ts';
import { Environments } from '../reach/environment.ts';
import type { Networks } from '../reach/networks.ts';
import type { SandboxTrust } from '../reach/sandbox-trust.ts';
import type { SecretUses } from '../reach/secret-uses.ts';
import type { KeptSessions } from '../work/kept-sessions.ts';
import { capturedDisks, DiskCopies } from './archives.ts';
import type { Watches } from './watches.ts';

export interface WorkDependencies {
  runtime: Runtime;
  images: Images;
  agent: AgentLink;
  watches: Watches;
  networks: Pick<Networks, 'put'>;
  secrets: Pick<SecretUses, 'environment'>;
  trust: Pick<SandboxTrust, 'keep'>;
  sessions: Pick<KeptSessions, 'keep' | 'drop'>;
  /** Commits the record of a verified archive before the disk changes again. */
  saveArchive(sandbox: Sandbox, archive: ArchiveRecord): Promise<unknown>;
}

export class MachineWork {
  readonly #deps: WorkDependencies;
  readonly #environments: Environments;
  readonly #copies = new DiskCopies();

  constructor(dependencies: WorkDependencies) {
    this.#deps = dependencies;
    this.#environments = new Environments(dependencies);
  }

  /** Performs the sandbox's stored operation; finishes the rest of an interrupted attempt. */
  async perform(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
    const { runtime, watches, sessions } = this.#deps;
    const { id } = sandbox;
    switch (sandbox.operation) {
      case 'restoring':
        await this.#restore(sandbox, signal);
        await this.bringUp(sandbox, signal);
        return sessions.drop(id);
      case 'starting':
        await this.bringUp(sandbox, signal);
        return sessions.drop(id);
      case 'stopping':
        watches.end(id);
        if (deletedByStop(sandbox)) return runtime.destroy(id);
        await sessions.keep(id);
        return runtime.stop(id, limits.stopGraceMs, sandbox.generation);
      case 'archiving':
        return this.#archive(sandbox, signal);
      case 'resizing':
        return this.#resize(sandbox);
      case 'deleting':
        watches.end(id);
        return runtime.destroy(id);
      case 'creating':
      case null:
        throw new Error(`sandbox ${id} has no operation to carry out`);
    }
  }

  /** Starts a machine, with or without an existing disk, until its agent answers and its entrypoint has started. */
  async bringUp(sandbox: Sandbox, signal: AbortSignal, from?: string): Promise<void> {
    const { runtime, agent, images, networks, trust } = this.#deps;
    const { id, imageDigest, resources, generation } = sandbox;
    runtime.assign(id, sandbox.ownerId);
    await networks.put(sandbox);
    const spec = { id, imageDigest, resources, ...(from === undefined ? {} : { from }) };
    const start = () => runtime.start(spec, generation, { signal });
    await inSpan('runtime start', { 'sandhaven.sandbox_id': id }, start);
    await agent.hello(id, generation);
    await trust.keep(sandbox);
    if (!sandbox.entrypoint?.length) return;
    const image = await images.get(imageDigest);
    // That of a built image is its user's, as elsewhere; others have always been root's.
    const user = sandbox.imageConfig === null ? undefined : (sandbox.user ?? undefined);
    await agent.startBackground(id, {
      user,
      argv: sandbox.entrypoint,
      cwd: sandbox.imageConfig?.workdir ?? (image?.workingDir || '/'),
      env: await this.#environments.on(image, sandbox, { user }),
    });
  }

  async #archive(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
    const { runtime, saveArchive } = this.#deps;
    const write = () => runtime.archive(sandbox.id, sandbox.generation, { signal });
    await saveArchive(sandbox, await this.#copies.archive(sandbox, write, signal));
  }

  /**
   * Restores the disk. A machine of this very generation shows that an earlier attempt got past the restore; its disk
   * is in use.
   */
  async #restore(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
    const { runtime } = this.#deps;
    const { id, archive, generation, imageDigest, resources } = sandbox;
    if (!archive) throw new Error(`sandbox ${id} is archived without an archive`);
    const running = (await runtime.inspect(id))?.runningGeneration ?? null;
    if (running === generation) return;
    if (running !== null) await runtime.stop(id, 0, generation);
    const spec = { id, imageDigest, resources };
    const restore = () => runtime.restore(spec, generation, archive, { signal });
    await this.#copies.restore(sandbox, restore, signal);
  }

  /** Stops a machine that runs, and puts the disk back to a captured one. */
  async putBack(
    { id, generation, resources }: Sandbox,
    captureId: string,
    signal: AbortSignal,
  ): Promise<void> {
    const { runtime, watches, sessions } = this.#deps;
    if ((await runtime.inspect(id))?.runningGeneration != null) {
      watches.end(id);
      await sessions.keep(id);
      await runtime.stop(id, limits.stopGraceMs, generation);
    }
    await capturedDisks(runtime).putBack(id, captureId, { diskGb: resources.disk, signal });
  }

  /** Gives a machine the sizes of its row again, after a live resize that failed half-way. */
  async undoResize({ id, state, resources }: Sandbox): Promise<void> {
    if (state === 'started') await this.#deps.runtime.resizeLive(id, resources);
  }

  async #resize(sandbox: Sandbox): Promise<void> {
    const { runtime } = this.#deps;
    const target = sandbox.resizeTarget;
    if (!target) throw new Error(`sandbox ${sandbox.id} is resizing to nothing`);
    if (sandbox.state !== 'started') {
      if (target.disk > sandbox.resources.disk) await runtime.growDisk(sandbox.id, target.disk);
      return;
    }
    await runtime.resizeLive(sandbox.id, target);
  }
}
