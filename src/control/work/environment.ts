/**
 * Environment of a process in a sandbox. Later values win: the service's, the image's, those of the sandbox's GPUs, the
 * sandbox's own, the call's.
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

  /** Like `of`, for a caller that has the image. */
  on(image: Image | null, sandbox: Given, call: Record<string, string> = {}): Record<string, string> {
    const devices = sandbox.resources.gpu > 0 ? this.#runtime.deviceEnvironment(sandbox.id) : {};
    const processors = processorCount(sandbox.resources.cpu);
    return { ...fallback, ...processors, ...image?.env, ...devices, ...sandbox.envVars, ...call };
  }
}

/**
 * Limits programs that count the processors they may run on, since the kernel limits time and not processors: `nproc`
 * and OpenMP read the first variable, Python's `os.process_cpu_count` the second.
 */
function processorCount(cpu: number): Record<string, string> {
  return { OMP_NUM_THREADS: String(cpu), PYTHON_CPU_COUNT: String(cpu) };
}
