/** The log of one session command, as it grows, and a line of input for it. */
import { CopyIcon } from '../../parts/copy.tsx';
import { Panel } from '../../parts/page.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { client } from '../../service/client.ts';
import { InputForm } from '../input-form.tsx';
import { LiveOutput } from '../output.tsx';
import { type Chosen, CommandState } from './command-state.tsx';
import { useLog } from './use-log.ts';

export function LogPanel({ sandbox, chosen, ended }: { sandbox: string; chosen: Chosen; ended(): void }) {
  const { output, status, exitCode, cut, error } = useLog(sandbox, chosen.session, chosen.command, ended);
  const place = { sandbox, session_id: chosen.session, command_id: chosen.command };
  return (
    <Panel
      title="Log"
      actions={
        <>
          {status !== null && <CommandState status={status} exitCode={exitCode} />}
          <CopyIcon text={output} label="Copy the log" />
        </>
      }
    >
      <code className="break">{chosen.text}</code>
      {cut && <div className="dimmed small">A part of this long log is left out.</div>}
      {error !== null && <ProblemPanel title="The log cannot be read" error={error} />}
      <LiveOutput
        label="Output of the command"
        text={output}
        none={status === 'completed' ? 'It printed nothing.' : 'Nothing is printed yet.'}
      />
      {status === 'running' && (
        <InputForm what="command" send={(input) => client.sendSessionInput({ ...place, input })} />
      )}
    </Panel>
  );
}
