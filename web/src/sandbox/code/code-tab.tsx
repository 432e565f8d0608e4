/** Runs code or a shell command in the sandbox, and shows what it printed and drew. */
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

function Runner() {
  const { id, language } = useSandbox();
  const [mode, setMode] = useState<'code' | 'command'>('code');
  const [seconds, setSeconds] = useState<number | string>(60);
  const editor = useRef<EditorHandle>(null);
  const leaving = useRef<AbortController>(null);
  const run = useMutation({
    mutationFn: async (): Promise<Ran> => {
      leaving.current = new AbortController();
      const { signal } = leaving.current;
      const text = editor.current?.text() ?? '';
      const timeout = { timeout_seconds: Number(seconds) || 60 };
      if (mode === 'code') return client.runCode({ sandbox: id, code: text, ...timeout }, { signal });
      return {
        ...(await client.runCommand({ sandbox: id, command: text, ...timeout }, { signal })),
        charts: [],
      };
    },
  });
  const start = () => {
    if (!run.isPending) run.mutate();
  };
  const isStopped = run.error instanceof DOMException && run.error.name === 'AbortError';
  return (
    <div className={classes['columns']}>
      <Panel
        title={mode === 'code' ? `Code in ${language}` : 'Command'}
        actions={
          <SegmentedControl
            aria-label="Kind"
            value={mode}
            onChange={(value) => setMode(value as typeof mode)}
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
              name={mode === 'code' ? `code.${endings[language]}` : 'command.sh'}
              text={mode === 'code' ? firstTexts[language] : 'ls -la\n'}
              onRun={start}
            />
          </Suspense>
        </div>
        <div className="row-end">
          <NumberInput
            label="Seconds until it is ended"
            min={1}
            max={mode === 'code' ? 300 : 600}
            value={seconds}
            onChange={setSeconds}
          />
          <span className="grow" />
          {run.isPending && (
            <Button variant="default" onClick={() => leaving.current?.abort()}>
              End it
            </Button>
          )}
          <Button
            leftSection={<Icon name="play" size={14} />}
            loading={run.isPending}
            onClick={start}
            title="Ctrl or Cmd with Enter"
          >
            Run
          </Button>
        </div>
      </Panel>
      <Panel title="Result">
        {run.isPending && <Loading what="the result" lines={3} />}
        {isStopped && <div role="status">It was ended.</div>}
        {run.error && !isStopped && <ProblemPanel title="Not run" error={run.error} />}
        {run.data && !run.isPending && <RunResult ran={run.data} />}
        {run.isIdle && <div className="dimmed">Each run starts afresh: files stay, variables do not.</div>}
      </Panel>
    </div>
  );
}
