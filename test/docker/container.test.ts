/** The image for Docker in a Docker of its own, on this host. */
import { afterAll, beforeAll, describe } from 'vitest';
import { claims } from './support/claims.ts';
import type { DockerHost } from './support/container.ts';
import { startDocker } from './support/daemon.ts';

let host: DockerHost;

beforeAll(async () => {
  host = await startDocker();
});

afterAll(() => host?.close());

describe('the container', () => claims(() => host));
