/** Minutes that an image stays which no sandbox and no snapshot uses. */
import { limits } from '../../../model/limits.ts';
import { parseCount } from '../count.ts';
import { flag } from '../flag.ts';

export const imageKeptMinutes = flag({
  name: 'image-kept-minutes',
  default: String(limits.image.keptMinutes),
  help: 'how long an image stays that nothing uses',
  parse: (text, { flag }) => parseCount(flag, text, limits.autoMinutesMax),
});
