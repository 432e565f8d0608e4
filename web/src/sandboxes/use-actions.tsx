/** Carries out actions on sandboxes, several side by side, and asks first where something is lost. */
import type { Sandbox } from '@sandhaven/sdk';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode, useState } from 'react';
import { counted } from '../format/quantity.ts';
import { Confirm, type Question } from '../parts/confirm.tsx';
import { notifyDone, notifyFailed } from '../parts/notify.tsx';
import { client } from '../service/client.ts';
import { changeSandbox, removeSandbox } from '../service/sandbox-list.ts';
import { type ActionName, isAllowed, lossOf, operations, pastTenses } from './actions.ts';

const AT_ONCE = 4;
const NAMED = 6;

const calls: Record<ActionName, (sandbox: string) => Promise<Partial<Sandbox> & { deleted?: boolean }>> = {
  start: (sandbox) => client.startSandbox({ sandbox }),
  stop: (sandbox) => client.stopSandbox({ sandbox }),
  pause: (sandbox) =>
    client
      .sandbox(sandbox)
      .pause()
      .then(() => client.getSandbox({ sandbox })),
  resume: (sandbox) =>
    client
      .sandbox(sandbox)
      .resume()
      .then(() => client.getSandbox({ sandbox })),
  archive: (sandbox) => client.archiveSandbox({ sandbox }),
  delete: (sandbox) => client.deleteSandbox({ sandbox }),
};

export interface SandboxActions {
  act(action: ActionName, chosen: readonly Sandbox[], done?: () => void): void;
  /** Must be rendered. */
  question: ReactNode;
}

export function useSandboxActions(): SandboxActions {
  const queries = useQueryClient();
  const [question, setQuestion] = useState<Question | null>(null);

  const run = async (action: ActionName, chosen: readonly Sandbox[], done?: () => void) => {
    const failures: unknown[] = [];
    let next = 0;
    const work = async () => {
      for (let one = chosen[next++]; one; one = chosen[next++]) {
        changeSandbox(queries, one.id, { operation: operations[action] });
        try {
          const answer = await calls[action](one.id);
          if (answer.deleted) removeSandbox(queries, one.id);
          else changeSandbox(queries, one.id, answer);
        } catch (error) {
          failures.push(error);
          changeSandbox(queries, one.id, { state: one.state });
        }
      }
    };
    await Promise.all(Array.from({ length: Math.min(AT_ONCE, chosen.length) }, work));
    const [first] = failures;
    if (first !== undefined) {
      notifyFailed(`${counted(failures.length, 'sandbox', 'sandboxes')} not ${pastTenses[action]}`, first);
      void queries.invalidateQueries({ queryKey: ['sandboxes'] });
    }
    const worked = chosen.length - failures.length;
    if (worked > 0) {
      notifyDone(
        chosen.length === 1
          ? `${chosen[0]?.name} ${pastTenses[action]}`
          : `${counted(worked, 'sandbox', 'sandboxes')} ${pastTenses[action]}`,
      );
      done?.();
    }
    void queries.invalidateQueries({ queryKey: ['users'] });
  };

  const act: SandboxActions['act'] = (action, chosen, done) => {
    const meant = chosen.filter((one) => isAllowed(action, one));
    if (meant.length === 0) return;
    const { lost } = lossOf(action, meant);
    if (lost.length === 0 && (action !== 'stop' || meant.length === 1)) return void run(action, meant, done);
    setQuestion({
      title: `${titles[action]} ${meant.length === 1 ? meant[0]?.name : counted(meant.length, 'sandbox', 'sandboxes')}?`,
      body: <LossText action={action} chosen={meant} />,
      action:
        meant.length === 1
          ? titles[action]
          : `${titles[action]} ${counted(meant.length, 'sandbox', 'sandboxes')}`,
      danger: lost.length > 0,
      // The dialog closes at once; the rows show the progress.
      run: async () => void run(action, meant, done),
    });
  };

  return { act, question: <Confirm question={question} close={() => setQuestion(null)} /> };
}

const titles: Record<ActionName, string> = {
  start: 'Start',
  resume: 'Resume',
  pause: 'Pause',
  stop: 'Stop',
  archive: 'Archive',
  delete: 'Delete',
};

function LossText({ action, chosen }: { action: ActionName; chosen: readonly Sandbox[] }) {
  const { lost, diskGb, interrupted } = lossOf(action, chosen);
  const shown = lost.length > 0 ? lost : chosen;
  return (
    <div className="stack">
      {lost.length > 0 ? (
        <div>
          {lost.length === 1 ? 'Its disk' : 'Their disks'} of up to {counted(diskGb, 'GB', 'GB')}, with every
          file that no Git remote or download has, {lost.length === 1 ? 'is' : 'are'} lost for good
          {action === 'stop' ? ', because a stop deletes ' : ''}
          {action === 'stop' ? (lost.length === 1 ? 'this sandbox' : 'these sandboxes') : ''}.
        </div>
      ) : (
        <div>Files stay on their disks.</div>
      )}
      {interrupted.length > 0 && (
        <div>All programs in {counted(interrupted.length, 'sandbox', 'sandboxes')} end.</div>
      )}
      <ul style={{ margin: 0, paddingInlineStart: '1.2rem' }}>
        {shown.slice(0, NAMED).map(({ id, name }) => (
          <li key={id}>{name}</li>
        ))}
        {shown.length > NAMED && <li>and {shown.length - NAMED} more</li>}
      </ul>
    </div>
  );
}
