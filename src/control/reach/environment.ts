/**
 * Environment of a process in a sandbox. Later values win: the service's, the image's, those of the snapshot that was built on it,
 * those of the sandbox's GPUs and of its secrets, the sandbox's own, the call's.
 */
import type { Sandbox } from '../../model/sandbox.ts';
import type { AsUser, Image, Images, Runtime } from '../ports/index.ts';
import type { SecretHolder, SecretUses } from './secret-uses.ts';

const fallback = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
};

/** The agent adds them for a call as a user: those of the service and of the image belong to another account. */
const ofAccount = new Set(['HOME', 'USER', 'LOGNAME', 'SHELL']);

type Given = SecretHolder & Pick<Sandbox, 'imageDigest' | 'imageConfig' | 'envVars' | 'resources'>;

export interface CallEnvironment extends AsUser {
  env?: Record<string, string>;
}

export interface EnvironmentDependencies {
  images: Pick<Images, 'get'>;
  runtime: Pick<Runtime, 'deviceEnvironment'>;
  secrets: Pick<SecretUses, 'environment'>;
}

export class Environments {
  readonly #deps: EnvironmentDependencies;

  constructor(dependencies: EnvironmentDependencies) {
    this.#deps = dependencies;
  }

  async of(sandbox: Given, call: CallEnvironment = {}): Promise<Record<string, string>> {
    return this.on(await this.#deps.images.get(sandbox.imageDigest), sandbox, call);
  }

  /** Like `of`, for a caller that has the image. */
  async on(
    image: Image | null,
    sandbox: Given,
    { user, env }: CallEnvironment = {},
  ): Promise<Record<string, string>> {
    const devices = sandbox.resources.gpu > 0 ? this.#deps.runtime.deviceEnvironment(sandbox.id) : {};
    const processors = processorCount(sandbox.resources.cpu);
    const secrets = await this.#deps.secrets.environment(sandbox);
    const common = { ...fallback, ...processors, ...image?.env, ...sandbox.imageConfig?.env };
    const base = user === undefined ? common : withoutAccount(common);
    return { ...base, ...devices, ...secrets, ...sandbox.envVars, ...env };
  }
}

function withoutAccount(env: Record<string, string>): Record<string, string> {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !ofAccount.has(name)));
}

/**
 * Limits programs that count the processors they may run on, since the kernel limits time and not processors: `nproc`
 * and OpenMP read the first variable, Python's `os.process_cpu_count` the second.
 */
function processorCount(cpu: number): Record<string, string> {
  return { OMP_NUM_THREADS: String(cpu), PYTHON_CPU_COUNT: String(cpu) };
}
