/** Mirrors of registries, tried before the registries themselves. */
import { parseRegistryMirrors } from '../../../model/registry-rules.ts';
import { flag } from '../flag.ts';

export const registryMirrors = flag({
  name: 'registry-mirror',
  default: '',
  help: 'mirrors that are tried before registries, such as docker.io=mirror.example:5000',
  parse: (text, { flag }) => parseRegistryMirrors(flag, text),
});
