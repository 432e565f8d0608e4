/** The only process of a store that no other one may open. */
import type { Replicas } from '../../control/ports/index.ts';

export function createAlone(): Replicas {
  return {
    shared: false,
    id: null,
    count: 1,
    lease: new AbortController().signal,
    assertLeased: () => {},
    lives: async () => false,
    isMine: () => true,
    onChange: () => {},
    changed: async () => {},
    onWritten: () => {},
    heard: async () => {},
    tell: () => {},
    onTold: () => {},
    onGap: () => {},
  };
}
