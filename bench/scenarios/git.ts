/**
 * Measures GitStatus of a repository of 10,000 files, and `git status` itself in the same sandbox and in a
 * container.
 */
import { IDLE, IMAGE } from '../base/docker.ts';
import { interleave, timed } from '../base/interleave.ts';
import type { Scenario } from '../base/scenario.ts';

const ROUNDS = 40;
const PATH = 'repository';
const MAKE = `git init -q -b main ${PATH} && cd ${PATH} && for d in $(seq 100); do
  mkdir $d && (cd $d && for f in $(seq 100); do echo $d/$f > $f; done); done &&
  git add . && git -c user.name=x -c user.email=x@example.org commit -q -m files && git status`;
/** Same command as the tool's; the shell measures, so that the call's own time is excluded. */
const ITSELF = `cd ${PATH} && begun=$(date +%s%N) &&
  git --no-optional-locks status --porcelain=v2 --branch -z --untracked-files=all --no-renames > /dev/null &&
  echo $(( $(date +%s%N) - begun ))`;
const NANOSECONDS = 1e6;

export const git: Scenario = async ({ docker: { cli }, sandhaven, rounds }) => {
  const sandbox = await sandhaven.create();
  const container = await cli('run', '-d', '-w', '/workspace', IMAGE, ...IDLE);
  await sandhaven.command(sandbox, MAKE);
  await cli('exec', container, 'bash', '-c', `mkdir -p /workspace && cd /workspace && ${MAKE}`);
  const samples = await interleave(rounds(ROUNDS), {
    sandhaven: async () => {
      const itself = Number(await sandhaven.command(sandbox, ITSELF)) / NANOSECONDS;
      const gitStatus = await timed(() => sandhaven.gitStatus(sandbox, PATH));
      return { gitStatus, gitStatusCost: gitStatus - itself };
    },
    docker: async () => ({
      gitStatus: await timed(() =>
        cli('exec', '-w', `/workspace/${PATH}`, container, 'git', 'status', '--porcelain=v2', '--branch'),
      ),
    }),
  });
  await Promise.all([sandhaven.remove(sandbox), cli('rm', '-f', container)]);
  return { samples };
};
