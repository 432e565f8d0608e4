/** Runs commands and code in an existing sandbox, and a call that does nothing at all. */
import { IDLE, IMAGE } from '../docker.ts';
import { interleave, timed } from '../interleave.ts';
import type { Scenario } from '../scenario.ts';

const ROUNDS = 50;
const CODE = 'print(1)';

export const execution: Scenario = async ({ docker: { cli, api }, sandhaven, rounds }) => {
  const sandbox = await sandhaven.create();
  const container = await cli('run', '-d', IMAGE, ...IDLE);
  const samples = await interleave(rounds(ROUNDS), {
    sandhaven: async () => ({
      requestFloor: await timed(() => sandhaven.nothing()),
      runCommand: await timed(() => sandhaven.command(sandbox, 'true')),
      runCode: await timed(() => sandhaven.code(sandbox, CODE)),
    }),
    docker: async () => ({
      requestFloor: await timed(() => cli('--version')),
      runCommand: await timed(() => cli('exec', container, 'true')),
      runCode: await timed(() => cli('exec', container, 'python3', '-c', CODE)),
    }),
    dockerApi: async () => ({
      requestFloor: await timed(() => api.ping()),
      runCommand: await timed(() => api.exec(container, ['true'])),
      runCode: await timed(() => api.exec(container, ['python3', '-c', CODE])),
    }),
  });
  await Promise.all([sandhaven.remove(sandbox), cli('rm', '-f', container)]);
  return { samples };
};
