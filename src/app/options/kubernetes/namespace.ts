/** Namespace that sandboxes lie in. */
import { flag } from '../flag.ts';

export const namespace = flag({
  name: 'namespace',
  default: '',
  group: 'kubernetes',
  help: 'namespace of the sandboxes; else that of the kubeconfig, or default',
  parse: (text) => text,
});
