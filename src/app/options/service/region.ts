/** Region of this service, and others that are listed beside it. */
import { parseRegions } from '../../../model/region.ts';
import { flag } from '../flag.ts';

export const regions = flag({
  name: 'region',
  default: '',
  help: 'where this is: id=…,name=…,city=…,country=…; after a semicolon, others to list',
  parse: (text, { flag }) => parseRegions(flag, text),
});
