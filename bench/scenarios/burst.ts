/** Creates fifty sandboxes at the same moment: measures the time until each is ready and has run a command. */
import { IDLE, IMAGE } from '../base/docker.ts';
import { type Figures, interleave, timed } from '../base/interleave.ts';
import type { Scenario } from '../base/scenario.ts';

const AT_ONCE = 50;
const ROUNDS = 6;
const PAUSE_MS = 1_000;

export const burst: Scenario = async ({ docker: { cli, api }, sandhaven, rounds }) => {
  const samples = await interleave(
    { ...rounds(ROUNDS, PAUSE_MS), warmUps: 0 },
    {
      sandhaven: () =>
        atOnce(
          () => sandhaven.create(),
          (id) => sandhaven.command(id, 'true'),
          (ids) => Promise.all(ids.map((id) => sandhaven.remove(id))),
        ),
      docker: () =>
        atOnce(
          () => cli('run', '-d', IMAGE, ...IDLE),
          (id) => cli('exec', id, 'true'),
          (ids) => cli('rm', '-f', ...ids),
        ),
      dockerApi: () =>
        atOnce(
          () => api.run(IMAGE, IDLE),
          (id) => api.exec(id, ['true']),
          (ids) => Promise.all(ids.map((id) => api.remove(id))),
        ),
    },
  );
  return { samples };
};

async function atOnce(
  create: () => Promise<string>,
  use: (id: string) => Promise<unknown>,
  remove: (ids: string[]) => Promise<unknown>,
): Promise<Figures> {
  const ids: string[] = [];
  const one = async () => {
    const id = await create();
    ids.push(id);
    await use(id);
  };
  const milliseconds = await timed(() => Promise.all(Array.from({ length: AT_ONCE }, one)));
  await remove(ids);
  return { burst: milliseconds / 1_000 };
}
