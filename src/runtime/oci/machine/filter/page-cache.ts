/**
 * Questions about the page cache. Machines of one image share its files in the cache, so the answer tells what the
 * others have used. Each is refused as a kernel refuses that does not have it.
 */
import { masked, type SeccompRule } from './rule.ts';

const EOPNOTSUPP = 95;
const ENOSYS = 38;
/** "Fail where you would have to wait for the disk." */
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
