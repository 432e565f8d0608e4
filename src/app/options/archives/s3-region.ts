/** Region of the bucket, a part of every signature. */
import { flag } from '../flag.ts';

export const s3Region = flag({
  name: 's3-region',
  default: '',
  help: 'region of the bucket; AWS_REGION, else us-east-1',
  parse: (text) => text,
});
