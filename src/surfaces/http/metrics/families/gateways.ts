/** Shares of users: requests, streams and connections through gateways, with those that were refused. */
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
