/**
 * Queries of the page cache. Machines of one image share its files in the cache, so the answer reveals what the
 * others have read. Each refusal is that of a kernel without the call.
 */
import { masked, type SeccompRule } from './rule.ts';

const EOPNOTSUPP = 95;
const ENOSYS = 38;
/** Flag of a read that fails instead of waiting for the disk. */
const RWF_NOWAIT = 0x8;
const FLAGS = 5;

export const withoutPageCache: SeccompRule[] = [
  { names: ['mincore', 'cachestat'], action: 'SCMP_ACT_ERRNO', errnoRet: ENOSYS },
  { names: ['preadv2'], action: 'SCMP_ACT_ALLOW', args: [masked(FLAGS, RWF_NOWAIT, 0)] },
  {
    names: ['preadv2'],
    action: 'SCMP_ACT_ERRNO',
    errnoRet: EOPNOTSUPP,
    args: [masked(FLAGS, RWF_NOWAIT, RWF_NOWAIT)],
  },
];
