/** Form of the URLs of a bucket. */
import { invalidArgument } from '../../../model/errors.ts';
import { flag } from '../flag.ts';

export const s3PathStyle = flag({
  name: 's3-path-style',
  default: '',
  help: 'yes: the bucket is in the path of URLs; no: in their host name; yes with --s3-endpoint',
  parse(text, { flag }): boolean | null {
    if (text === '') return null;
    if (text === 'yes' || text === 'no') return text === 'yes';
    throw invalidArgument(flag, `${flag} must be yes or no, and '${text}' was given.`);
  },
});
