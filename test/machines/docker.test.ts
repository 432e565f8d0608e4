/** The image for Docker on a machine with cgroup v2, in the Docker of Debian as it is installed. */
import { afterAll, beforeAll, describe, inject } from 'vitest';
import { claims } from '../docker/support/claims.ts';
import type { DockerHost } from '../docker/support/container.ts';
import { type Machine, startMachine } from './support/machine.ts';

const APT = 'DEBIAN_FRONTEND=noninteractive apt-get --quiet --yes -o Dpkg::Use-Pty=0';
/** An emulated processor unpacks for minutes. */
const PATIENCE = { timeoutMs: 1_800_000 };

describe('the container', () => {
  let machine: Machine;
  let host: DockerHost;

  beforeAll(async () => {
    machine = await startMachine('trixie', inject('machinePayload'));
    // Images and volumes lie on the disk with the most room.
    await machine.must(
      `mkdir -p /etc/docker && echo '{"data-root": "/srv/docker"}' > /etc/docker/daemon.json`,
    );
    await machine.must(
      `${APT} update && ${APT} install --no-install-recommends docker.io docker-cli iptables`,
      PATIENCE,
    );
    await machine.must(
      'docker load --quiet --input /srv/packages/sandhaven-standalone_*_amd64.tar',
      PATIENCE,
    );
    host = {
      async run(command) {
        const { status, stdout, stderr } = await machine.run(command, PATIENCE);
        return { status, output: stdout + stderr };
      },
      close: () => machine.close(),
    };
  });

  afterAll(() => machine?.close());

  claims(() => host);
});
