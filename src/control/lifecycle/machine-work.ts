/** What each operation does to a machine. Called in the sandbox's turn; settling is the caller's. */
import { deletedByStop } from '../../model/lifecycle.ts';
import { limits } from '../../model/limits.ts';
import type { ArchiveRecord, Sandbox } from '../../model/sandbox.ts';
import type { AgentLink, Images, Runtime } from '../ports/index.ts';
import { Environments } from '../work/environment.ts';
import type { Watches } from './watches.ts';

export interface WorkDependencies {
  runtime: Runtime;
  images: Images;
  agent: AgentLink;
  watches: Watches;
  /** Commits the record of a verified archive before anything else happens to the disk. */
  saveArchive(sandbox: Sandbox, archive: ArchiveRecord): Promise<unknown>;
}

export class MachineWork {
  readonly #d: WorkDependencies;
  readonly #environments: Environments;

  constructor(dependencies: WorkDependencies) {
    this.#d = dependencies;
    this.#environments = new Environments(dependencies.images, dependencies.runtime);
  }

  /** Carries out the sandbox's stored operation; what an earlier attempt left half done is finished. */
  async perform(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
    const { runtime, watches } = this.#d;
    const { id } = sandbox;
    switch (sandbox.operation) {
      case 'restoring':
        await this.#restore(sandbox, signal);
        return this.bringUp(sandbox, signal);
      case 'starting':
        return this.bringUp(sandbox, signal);
      case 'stopping':
        watches.end(id);
        return deletedByStop(sandbox) ? runtime.destroy(id) : runtime.stop(id, limits.stopGraceMs);
      case 'archiving':
        await this.#d.saveArchive(sandbox, await runtime.archive(id, { signal }));
        return;
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

  /** From a disk, or from nothing, to a machine whose agent answers and whose entrypoint was started. */
  async bringUp(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
    const { runtime, agent, images } = this.#d;
    const { id, imageDigest, resources, generation } = sandbox;
    runtime.assign(id, sandbox.ownerId);
    await runtime.start({ id, imageDigest, resources }, generation, { signal });
    await agent.hello(id, generation);
    if (!sandbox.entrypoint?.length) return;
    const image = await images.get(imageDigest);
    await agent.startBackground(id, {
      argv: sandbox.entrypoint,
      cwd: image?.workingDir || '/',
      env: this.#environments.on(image, sandbox),
    });
  }

  /** A machine of this very generation means that an earlier attempt came past the restore; its disk is in use. */
  async #restore(sandbox: Sandbox, signal: AbortSignal): Promise<void> {
    const { runtime } = this.#d;
    const { id, archive, generation } = sandbox;
    if (!archive) throw new Error(`sandbox ${id} is archived without an archive`);
    const running = (await runtime.inspect(id))?.runningGeneration ?? null;
    if (running === generation) return;
    if (running !== null) await runtime.stop(id, 0);
    await runtime.restore(id, archive, { signal });
  }

  /** All or nothing: a live resize that fails half-way is undone. */
  async #resize(sandbox: Sandbox): Promise<void> {
    const { runtime } = this.#d;
    const target = sandbox.resizeTarget;
    if (!target) throw new Error(`sandbox ${sandbox.id} is resizing to nothing`);
    if (sandbox.state !== 'started') {
      if (target.disk > sandbox.resources.disk) await runtime.growDisk(sandbox.id, target.disk);
      return;
    }
    try {
      await runtime.resizeLive(sandbox.id, target);
    } catch (error) {
      await runtime.resizeLive(sandbox.id, sandbox.resources).catch(() => {});
      throw error;
    }
  }
}
