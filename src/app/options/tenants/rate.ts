/** Rate limit of each key. */
import type { Rate } from '../../../fairness/rate.ts';
import { invalidArgument } from '../../../model/errors.ts';
import { flag } from '../flag.ts';

export const rate = flag({
  name: 'rate',
  default: 'none',
  help: 'calls of each key a second, such as 50, or 50/200 for up to 200 at once',
  parse: (text, { flag }) => parseRate(flag, text),
});

/** Parses `50/200`: calls a second and burst; the burst defaults to the calls of one second. */
function parseRate(flag: string, text: string): Rate | null {
  if (text === 'none') return null;
  const [perSecond = '', burst = perSecond, ...more] = text.split('/');
  const parsed = { perSecond: Number(perSecond), burst: Number(burst) };
  const whole = [perSecond, burst].every((part) => /^\d{1,6}$/.test(part) && Number(part) > 0);
  if (whole && more.length === 0) return parsed;
  throw invalidArgument(
    flag,
    `${flag} must be a number of calls a second, and '${text}' was given.`,
    'For example 50, 50/200 for up to 200 at once, or none.',
  );
}
