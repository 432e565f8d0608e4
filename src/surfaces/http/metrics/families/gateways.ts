/** Shares of users: requests, streams and connections through gateways, with those that were refused; traffic of sandboxes. */
import { type Family, single } from '../family.ts';

export const gatewayFamilies: readonly Family[] = [
  {
    name: 'sandhaven_share_held',
    help: 'Requests in progress and open connections, by what users share.',
    type: 'gauge',
    labels: ['share'],
    read: ({ shares }) => [...shares].map(([share, { total }]) => ({ labels: { share }, value: total })),
  },
  {
    name: 'sandhaven_share_refusals_total',
    help: "Requests and connections that were refused, for a user's share or for the bound of all.",
    type: 'counter',
    labels: ['share'],
    read: ({ shares }) => [...shares].map(([share, { refused }]) => ({ labels: { share }, value: refused })),
  },
  {
    name: 'sandhaven_rate_refusals_total',
    help: 'Calls that were refused for the rate of their key.',
    type: 'counter',
    labels: [],
    read: ({ refusedByRate }) => single(refusedByRate),
  },
  {
    name: 'sandhaven_preview_answers_total',
    help: 'Answers of the preview gateway by the class of their status.',
    type: 'counter',
    labels: ['status'],
    read: ({ previewAnswers }) =>
      [...previewAnswers].map(([status, value]) => ({ labels: { status }, value })),
  },
];

/** Traffic of all sandboxes together, and the sandboxes that are refused the network. */
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
