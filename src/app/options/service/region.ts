/** Region of this service, and others to list beside it. */
import { parseRegions } from '../../../model/region.ts';
import { flag } from '../flag.ts';

export const regions = flag({
  name: 'region',
  default: '',
  help: 'place of the service: id=…,name=…,city=…,country=…; after a semicolon, others to list',
  parse: (text, { flag }) => parseRegions(flag, text),
});
