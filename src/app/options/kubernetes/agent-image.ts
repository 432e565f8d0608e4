/** Image that brings the agent into Pods. */
import { flag } from '../flag.ts';

export const agentImage = flag({
  name: 'agent-image',
  default: '',
  group: 'kubernetes',
  help: 'image with sandhaven-agent in its root, which every Pod mounts',
  parse: (text) => text,
});
