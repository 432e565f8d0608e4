/** Runs code or a shell command in the sandbox, and shows its output and charts. */
import { Button, NumberInput, SegmentedControl } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { lazy, Suspense, useRef, useState } from 'react';
import { Icon } from '../../parts/icon.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Panel } from '../../parts/page.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { client } from '../../service/client.ts';
import type { EditorHandle } from '../files/editor.tsx';
import { NeedsStart } from '../needs-start.tsx';
import classes from '../sandbox.module.css';
import { useSandbox } from '../sandbox.ts';
import { UserInput, userOf } from '../user-input.tsx';
import { type Ran, RunResult } from './run-result.tsx';

const Editor = lazy(() => import('../files/editor.tsx'));

const endings = { python: 'py', typescript: 'ts', javascript: 'js' } as const;
const firstTexts = {
  python: 'print("hello")\n',
  typescript: 'console.log("hello");\n',
  javascript: 'console.log("hello");\n',
} as const;

export function CodeTab() {
  return (
    <NeedsStart what="Results">
      <Runner />
    </NeedsStart>
  );
}

type Mode = 'code' | 'command';

function Runner() {
  const { id } = useSandbox();
  const [mode, setMode] = useState<Mode>('code');
  const leaving = useRef<AbortController>(null);
  const run = useMutation({
    mutationFn: async ({ text, seconds, user }: Source): Promise<Ran> => {
      leaving.current = new AbortController();
      const { signal } = leaving.current;
      const place = { sandbox: id, timeout_seconds: seconds, ...userOf(user) };
      if (mode === 'code') return client.runCode({ ...place, code: text }, { signal });
      return { ...(await client.runCommand({ ...place, command: text }, { signal })), charts: [] };
    },
  });
  const isStopped = run.error instanceof DOMException && run.error.name === 'AbortError';
  return (
    <div className={classes['columns']}>
      <SourcePanel
        mode={mode}
        setMode={setMode}
        busy={run.isPending}
        run={run.mutate}
        end={() => leaving.current?.abort()}
      />
      <Panel title="Result">
        {run.isPending && <Loading what="the result" lines={3} />}
        {isStopped && <div role="status">The run was stopped.</div>}
        {run.error && !isStopped && <ProblemPanel title="Not run" error={run.error} />}
        {run.data && !run.isPending && <RunResult ran={run.data} />}
        {run.isIdle && <div className="dimmed">Each run starts anew: files stay, variables do not.</div>}
      </Panel>
    </div>
  );
}

interface Source {
  text: string;
  seconds: number;
  user: string;
}

interface SourcePanelProps {
  mode: Mode;
  setMode(mode: Mode): void;
  busy: boolean;
  run(source: Source): void;
  end(): void;
}

function SourcePanel({ mode, setMode, busy, run, end }: SourcePanelProps) {
  const { language } = useSandbox();
  const [seconds, setSeconds] = useState<number | string>(60);
  const [user, setUser] = useState('');
  const editor = useRef<EditorHandle>(null);
  const start = () => {
    if (!busy) run({ text: editor.current?.text() ?? '', seconds: Number(seconds) || 60, user });
  };
  const isCode = mode === 'code';
  return (
    <Panel
      title={isCode ? `Code in ${language}` : 'Command'}
      actions={
        <SegmentedControl
          aria-label="Kind"
          value={mode}
          onChange={(value) => setMode(value as Mode)}
          data={[
            { value: 'code', label: 'Code' },
            { value: 'command', label: 'Command' },
          ]}
        />
      }
    >
      <div className={classes['source']}>
        <Suspense fallback={<Loading what="the editor" />}>
          <Editor
            key={mode}
            ref={editor}
            name={isCode ? `code.${endings[language]}` : 'command.sh'}
            text={isCode ? firstTexts[language] : 'ls -la\n'}
            onRun={start}
          />
        </Suspense>
      </div>
      <div className="row-end">
        <NumberInput
          label="Timeout in seconds"
          min={1}
          max={isCode ? 300 : 600}
          value={seconds}
          onChange={setSeconds}
        />
        <UserInput value={user} onChange={({ currentTarget }) => setUser(currentTarget.value)} />
        <span className="grow" />
        {busy && (
          <Button variant="default" onClick={end}>
            End it
          </Button>
        )}
        <Button
          leftSection={<Icon name="play" size={14} />}
          loading={busy}
          onClick={start}
          title="Ctrl or Cmd with Enter"
        >
          Run
        </Button>
      </div>
    </Panel>
  );
}
