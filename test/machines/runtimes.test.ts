/** A direct start and runc make the same machine on cgroup v2. */
import { afterAll, beforeAll, inject } from 'vitest';
import { describeBothRuntimes } from './support/both-runtimes.ts';
import { type Installed, startInstalled } from './support/installed.ts';

let installed: Installed;

beforeAll(async () => {
  installed = await startInstalled(inject('machinePayload'));
});

afterAll(() => installed?.machine.close());

describeBothRuntimes(() => installed);
