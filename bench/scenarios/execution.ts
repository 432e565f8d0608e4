/** Runs commands and code in an existing sandbox, and a call that does nothing at all. */
import { IDLE, IMAGE } from '../base/docker.ts';
import { interleave, timed } from '../base/interleave.ts';
import type { Scenario } from '../base/scenario.ts';

const ROUNDS = 50;
const SLOW_ROUNDS = 20;
const CODE = 'print(1)';
const PLOT = `
import matplotlib.pyplot as plt, pandas
pandas.DataFrame({'a': [1, 3, 2]}).plot()
`;
const TYPESCRIPT = `const text: string = '1'; console.log(text);`;

export const execution: Scenario = async ({ docker: { cli, api }, sandhaven, rounds }) => {
  const sandbox = await sandhaven.create();
  const typescript = await sandhaven.create({ language: 'typescript' });
  const container = await cli('run', '-d', IMAGE, ...IDLE);
  const commands = await interleave(rounds(ROUNDS), {
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
  const chart = ['python3', '-c', `${PLOT}plt.savefig('/tmp/chart.png', bbox_inches='tight')`];
  const node = ['node', '--input-type=module-typescript', '-e', TYPESCRIPT];
  const languages = await interleave(rounds(SLOW_ROUNDS), {
    sandhaven: async () => ({
      runChart: await timed(() => sandhaven.code(sandbox, `${PLOT}plt.show()`)),
      runTypescript: await timed(() => sandhaven.code(typescript, TYPESCRIPT)),
    }),
    docker: async () => ({
      runChart: await timed(() => cli('exec', container, ...chart)),
      runTypescript: await timed(() => cli('exec', container, ...node)),
    }),
    dockerApi: async () => ({
      runChart: await timed(() => api.exec(container, chart)),
      runTypescript: await timed(() => api.exec(container, node)),
    }),
  });
  await Promise.all([sandhaven.remove(sandbox), sandhaven.remove(typescript), cli('rm', '-f', container)]);
  return { samples: { ...commands, ...languages } };
};
