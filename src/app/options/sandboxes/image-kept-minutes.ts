/** Retention, in minutes, of an image that no sandbox and no snapshot uses. */
import { limits } from '../../../model/limits.ts';
import { parseCount } from '../count.ts';
import { flag } from '../flag.ts';

export const imageKeptMinutes = flag({
  name: 'image-kept-minutes',
  default: String(limits.image.keptMinutes),
  help: 'minutes that an unused image is kept',
  parse: (text, { flag }) => parseCount(flag, text, limits.autoMinutesMax),
});
