/** Runs a command in an existing session. A Docker engine has no counterpart. */
import { interleave, timed } from '../base/interleave.ts';
import type { Scenario } from '../base/scenario.ts';

const ROUNDS = 50;
const SESSION = 'bench';

export const sessions: Scenario = async ({ sandhaven, rounds }) => {
  const sandbox = await sandhaven.create();
  await sandhaven.session(sandbox, SESSION);
  const samples = await interleave(rounds(ROUNDS), {
    sandhaven: async () => ({
      sessionCommand: await timed(() => sandhaven.sessionCommand(sandbox, SESSION, 'true')),
    }),
  });
  await sandhaven.remove(sandbox);
  return { samples };
};
