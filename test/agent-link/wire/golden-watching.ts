/** The golden exchanges of watches of files: the call that makes each, and what the call gives. */
import type { AgentLink, FileChange } from '../../../src/control/ports/index.ts';
import { SANDBOX } from './fake-agent.ts';

async function watched(agent: AgentLink, request: Parameters<AgentLink['watchFiles']>[1]) {
  const seen: (FileChange | 'begun')[] = [];
  await agent.watchFiles(SANDBOX, request, {
    begun: () => void seen.push('begun'),
    changed: (changes): undefined => void seen.push(...changes),
  });
  return seen;
}

export const watchingCalls = {
  'watch-files': {
    call: (agent: AgentLink) => watched(agent, { user: 'ann', path: 'src', recursive: true }),
    gives: [
      'begun',
      { type: 'created', path: 'src/new', folder: true },
      { type: 'created', path: 'src/new/é', folder: false },
      { type: 'written', path: 'src/new/é', folder: false },
      { type: 'renamed', path: 'src/b', from: 'src/a', folder: false },
      { type: 'attributes', path: 'src/b', folder: false },
      { type: 'overflow' },
      { type: 'removed', path: 'src/new', folder: true },
    ],
  },
  'watch-files-many': {
    call: (agent: AgentLink) => watched(agent, { path: '.', recursive: true }),
    fails: {
      code: 'resource_exhausted',
      fields: { hint: 'Watch a folder further down, or leave out its folders.' },
    },
  },
};
