/** The service in a container, on whatever host has Docker. */
import { expect } from 'vitest';
import { version } from '../../../src/home.ts';

export interface Outcome {
  status: number;
  /** Standard output and standard error together. */
  output: string;
}

/** Has the image. */
export interface DockerHost {
  /** Runs a shell command on the host of Docker, in its network. */
  run(command: string): Promise<Outcome>;
  close(): Promise<void>;
}

export interface Container {
  host: DockerHost;
  /** Runs a command of Docker; fails when it does. */
  docker(argv: string): Promise<string>;
  /** Runs the service's own command inside, whatever its status. */
  tries(argv: string): Promise<Outcome>;
  /** As `tries`, and fails when the command does. */
  sandhaven(argv: string): Promise<string>;
  /** Resolves, with the log since its last start, when the service is ready; fails when the container has ended. */
  ready(): Promise<string>;
}

export const IMAGE = `sandhaven-standalone:${version}`;
/** The form with fewer privileges, as docs/docker.md has it. */
export const FEWER = [
  '--cap-add SYS_ADMIN --cap-add NET_ADMIN --cap-add SYS_PTRACE --cap-drop NET_RAW --cap-drop AUDIT_WRITE',
  '--security-opt seccomp=unconfined --security-opt apparmor=unconfined --security-opt systempaths=unconfined',
  "--device /dev/loop-control --device-cgroup-rule 'b 7:* rwm'",
].join(' ');

/** An emulated processor unpacks the base image for minutes. */
export const READY = { timeout: 1_800_000, interval: 2_000 };

/** Starts a container, with the arguments of `docker run` that come before the image. */
export async function startContainer(host: DockerHost, name: string, options: string): Promise<Container> {
  const docker = async (argv: string): Promise<string> => {
    const { status, output } = await host.run(`docker ${argv}`);
    if (status !== 0) throw new Error(`docker ${argv}: status ${status}\n${output}`);
    return output;
  };
  // The first rules of nftables load modules, for which an emulated processor needs more time than the service gives.
  await docker(`run --detach --restart on-failure:3 --name ${name} ${options} ${IMAGE}`);
  return {
    host,
    docker,
    tries: (argv) => host.run(`docker exec ${name} sandhaven ${argv}`),
    sandhaven: (argv) => docker(`exec ${name} sandhaven ${argv}`),
    async ready() {
      let log = '';
      await expect
        .poll(async () => {
          const [state = '', begun = ''] = (
            await docker(`inspect --format '{{.State.Status}} {{.State.StartedAt}}' ${name}`)
          ).split(/\s+/);
          log = await docker(`logs --since ${begun} ${name}`);
          return state === 'exited' ? `${state}: ready\n${log}` : log;
        }, READY)
        .toMatch(/^(?:\w+: )?ready/m);
      if (!/^ready http/m.test(log)) throw new Error(`the container has ended:\n${log}`);
      return log;
    },
  };
}
