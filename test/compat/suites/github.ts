/**
 * Stands in for the repository on github.com that the suites clone: in each sandbox, Git's own rule for addresses leads to one
 * on its disk. A suite clones some seconds after it has made its sandbox.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { call, type Service } from '../../support/service.ts';

const POLL_MS = 250;

const command = `
  set -e
  git init --quiet --initial-branch=master /srv/seed
  cd /srv/seed
  echo hello >README
  git add README
  git -c user.name=octocat -c user.email=octocat@example.org commit --quiet --message first
  git branch test
  git clone --quiet --bare . /srv/github/octocat/Hello-World.git
  chown -R daytona /srv/github
  git config --system url.file:///srv/github/.insteadOf https://github.com/`;

/** Gives it to each sandbox that comes, until the signal. */
export async function lendRepository(service: Service, signal: AbortSignal): Promise<void> {
  const have = new Set<string>();
  while (!signal.aborted) {
    const { body } = await call(service, 'ListSandboxes');
    for (const { id } of body['sandboxes'] as { id: string }[]) {
      if (have.has(id)) continue;
      // It may not be there yet, or any more.
      const lent = await call(service, 'RunCommand', { sandbox: id, user: 'root', command });
      if (lent.body['exit_code'] === 0) have.add(id);
    }
    await sleep(POLL_MS);
  }
}
