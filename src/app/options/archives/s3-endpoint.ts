/** Server that speaks the S3 protocol. */
import { flag } from '../flag.ts';

export const s3Endpoint = flag({
  name: 's3-endpoint',
  default: '',
  help: "URL of the S3 server, when it is not Amazon's",
  parse: (text) => text,
});
