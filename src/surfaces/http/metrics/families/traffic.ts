/** Traffic of all sandboxes together, and the sandboxes that are refused the network. */
import { type Family, single } from '../family.ts';

export const trafficFamilies: readonly Family[] = [
  {
    name: 'sandhaven_network_bytes_total',
    help: 'Bytes that sandboxes have sent to the outside and received from it.',
    type: 'counter',
    labels: ['direction'],
    read: ({ traffic }) =>
      traffic
        ? [
            { labels: { direction: 'sent' }, value: traffic.sentBytes },
            { labels: { direction: 'received' }, value: traffic.receivedBytes },
          ]
        : [],
  },
  {
    name: 'sandhaven_network_refused_connections_total',
    help: 'New connections of sandboxes that were refused for their rate.',
    type: 'counter',
    labels: [],
    read: ({ traffic }) => (traffic ? single(traffic.refusedConnections) : []),
  },
  {
    name: 'sandhaven_network_used_up',
    help: 'Running sandboxes without a network, since their own traffic of the day, or that of their owner, is used up.',
    type: 'gauge',
    labels: ['of'],
    read: ({ traffic }) =>
      traffic ? Object.entries(traffic.refused).map(([of, value]) => ({ labels: { of }, value })) : [],
  },
];
