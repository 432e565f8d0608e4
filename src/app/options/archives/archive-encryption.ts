/** Encryption of new archives. */
import { flag } from '../flag.ts';
import { yesOrNo } from '../yes-or-no.ts';

export const archiveEncryption = flag({
  name: 'archive-encryption',
  default: 'no',
  help: 'yes: new archives are encrypted with a key that is derived from secret.key',
  parse: yesOrNo,
});
