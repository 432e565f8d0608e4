/** File with the credentials for S3, which are never a flag themselves. */
import { flag } from '../flag.ts';

export const s3CredentialsFile = flag({
  name: 's3-credentials-file',
  default: '',
  help: 'file with the credentials, in place of AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY',
  parse: (text) => text,
});
