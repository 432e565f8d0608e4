/** The environment of a process in a sandbox: the image's, then the sandbox's own, then the call's. */
import type { Sandbox } from '../model/sandbox.ts';
import type { Image } from './ports.ts';

const fallback = {
  PATH: '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
  HOME: '/root',
  LANG: 'C.UTF-8',
};

export function environment(
  image: Image | null,
  sandbox: Pick<Sandbox, 'envVars'>,
  call: Record<string, string>,
): Record<string, string> {
  return { ...fallback, ...image?.env, ...sandbox.envVars, ...call };
}
