/** Calls and connections: outcomes of calls, shares of users with what was refused, traffic of sandboxes. */
import { actions } from '../../../../administration/index.ts';
import { allTools } from '../../../../catalog/index.ts';
import type { Figures } from '../../../../control/metrics.ts';
import { type AuditOutcome, auditActions } from '../../../../model/audit.ts';
import { type Family, histogram, type Sample, single } from './family.ts';

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

const toolNames: ReadonlySet<string> = new Set(allTools.map(({ name }) => name));
/** Actions of the administration, and what callers do beside tools. */
const actionNames = new Set([...actions.map(({ name }) => name), ...Object.values(auditActions)]);

/** Calls: tools by outcome and duration, other actions by outcome. */
export const callFamilies: readonly Family[] = [
  {
    name: 'sandhaven_tool_calls_total',
    help: 'Calls of tools that have ended, over every surface.',
    type: 'counter',
    labels: ['tool', 'outcome'],
    read: ({ calls }) => outcomes(calls, toolNames, 'tool'),
  },
  {
    name: 'sandhaven_tool_call_duration_seconds',
    help: 'Durations of calls of tools, whatever their outcome.',
    type: 'histogram',
    labels: ['tool'],
    read: ({ calls }) =>
      [...calls].flatMap(([tool, { durations }]) =>
        toolNames.has(tool) ? histogram(durations, { tool }) : [],
      ),
  },
  {
    name: 'sandhaven_action_calls_total',
    help: 'Actions of the administration, sign-ins, uploads and downloads that have ended.',
    type: 'counter',
    labels: ['action', 'outcome'],
    read: ({ calls }) => outcomes(calls, actionNames, 'action'),
  },
];

/** Shows a success of each from the beginning, as 0: Prometheus sees no growth in a first sample. */
function outcomes(calls: Figures['calls'], names: ReadonlySet<string>, label: string): Sample[] {
  return [...names].flatMap((name) => {
    const counts = new Map<AuditOutcome, number>([['ok', 0], ...(calls.get(name)?.outcomes ?? [])]);
    return [...counts].map(([outcome, value]) => ({ labels: { [label]: name, outcome }, value }));
  });
}
