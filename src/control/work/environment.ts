/**
 * The environment of a process in a sandbox: the service's, then the image's, then what the sandbox's GPUs bring, then
 * the sandbox's own, then the call's.
 */
import type { Sandbox } from '../../model/sandbox.ts';
import type { Image, Images, Runtime } from '../ports/index.ts';

const fallback = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
};

type Given = Pick<Sandbox, 'id' | 'imageDigest' | 'envVars' | 'resources'>;

export class Environments {
  readonly #images: Pick<Images, 'get'>;
  readonly #runtime: Pick<Runtime, 'deviceEnvironment'>;

  constructor(images: Pick<Images, 'get'>, runtime: Pick<Runtime, 'deviceEnvironment'>) {
    this.#images = images;
    this.#runtime = runtime;
  }

  async of(sandbox: Given, call: Record<string, string> = {}): Promise<Record<string, string>> {
    return this.on(await this.#images.get(sandbox.imageDigest), sandbox, call);
  }

  /** As `of`, where the image is at hand. */
  on(image: Image | null, sandbox: Given, call: Record<string, string> = {}): Record<string, string> {
    const devices = sandbox.resources.gpu > 0 ? this.#runtime.deviceEnvironment(sandbox.id) : {};
    const processors = processorCount(sandbox.resources.cpu);
    return { ...fallback, ...processors, ...image?.env, ...devices, ...sandbox.envVars, ...call };
  }
}

/**
 * For programs that count the processors which the kernel would let them run on, since it limits time and not
 * processors: `nproc` and OpenMP by the first, Python's `os.process_cpu_count` by the second.
 */
function processorCount(cpu: number): Record<string, string> {
  return { OMP_NUM_THREADS: String(cpu), PYTHON_CPU_COUNT: String(cpu) };
}
