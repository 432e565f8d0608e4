/** Calls: tools by outcome and duration, other actions by outcome. */
import { actions } from '../../../../administration/index.ts';
import { tools } from '../../../../catalog/index.ts';
import type { Figures } from '../../../../control/metrics/metrics.ts';
import { type AuditOutcome, auditActions } from '../../../../model/audit.ts';
import { type Family, histogram, type Sample } from '../family.ts';

const toolNames: ReadonlySet<string> = new Set(tools.map(({ name }) => name));
/** Actions of the administration, and what callers do beside tools. */
const actionNames = new Set([...actions.map(({ name }) => name), ...Object.values(auditActions)]);

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
