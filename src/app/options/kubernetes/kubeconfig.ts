/** Access to the Kubernetes API. */
import { flag } from '../flag.ts';

export const kubeconfig = flag({
  name: 'kubeconfig',
  default: '',
  group: 'kubernetes',
  help: 'file with access to the API; else that of the Pod, KUBECONFIG, or ~/.kube/config',
  parse: (text) => text,
});
