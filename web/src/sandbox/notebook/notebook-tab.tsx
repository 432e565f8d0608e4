/** A notebook over a context of the sandbox: cells that remember, their results and charts, restart, download. */
import { Button, Select } from '@mantine/core';
import { lazy, Suspense, useRef, useState } from 'react';
import { Icon } from '../../parts/icon.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Panel } from '../../parts/page.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import type { EditorHandle } from '../files/editor.tsx';
import cellClasses from '../files/previews/notebook.module.css';
import { ShownCell } from '../files/previews/notebook.tsx';
import { readCell } from '../files/previews/notebook-cells.ts';
import { NeedsStart } from '../needs-start.tsx';
import classes from '../sandbox.module.css';
import { useSandbox } from '../sandbox.ts';
import type { CodeCell, Language } from './cells.ts';
import { useNotebook } from './use-notebook.ts';

const Editor = lazy(() => import('../files/editor.tsx'));

const endings = { python: 'py', typescript: 'ts', javascript: 'js', bash: 'sh' } as const;

export function NotebookTab() {
  return (
    <NeedsStart what="Notebooks">
      <Notebook />
    </NeedsStart>
  );
}

function Notebook() {
  const sandbox = useSandbox();
  const [language, setLanguage] = useState<Language>(sandbox.language);
  const { cells, busy, error, run, interrupt, restart, download } = useNotebook(sandbox, language);
  const editor = useRef<EditorHandle>(null);
  const [written, setWritten] = useState(0);
  const runNew = () => {
    const source = editor.current?.text() ?? '';
    if (busy || source.trim() === '') return;
    setWritten((count) => count + 1);
    void run(source);
  };
  return (
    <Panel
      title="Notebook"
      actions={
        <div className="row">
          <Select
            aria-label="Language"
            data={Object.keys(endings)}
            value={language}
            allowDeselect={false}
            disabled={busy}
            onChange={(chosen) => setLanguage((chosen ?? language) as Language)}
          />
          <Button variant="default" disabled={!busy} onClick={() => void interrupt()}>
            Interrupt
          </Button>
          <Button variant="default" title="Forgets the variables" onClick={() => void restart()}>
            Restart
          </Button>
          <Button variant="default" disabled={cells.length === 0} onClick={download}>
            Download
          </Button>
        </div>
      }
    >
      {cells.length === 0 && (
        <div className="dimmed">
          Variables of a cell are there in the next, and for everybody who uses this context.
        </div>
      )}
      <ol className={cellClasses['cells']}>
        {cells.map((cell, index) => (
          <li key={index} className={cellClasses['cell']}>
            <RanCell cell={cell} number={index + 1} busy={busy} again={() => void run(cell.source, index)} />
          </li>
        ))}
      </ol>
      {error !== null && <ProblemPanel title="Not run" error={error} />}
      <div className={classes['source']}>
        <Suspense fallback={<Loading what="the editor" />}>
          <Editor
            key={`${language} ${written}`}
            ref={editor}
            name={`cell.${endings[language]}`}
            text=""
            onRun={runNew}
          />
        </Suspense>
      </div>
      <div className="row-end">
        <Button
          leftSection={<Icon name="play" size={14} />}
          loading={busy}
          onClick={runNew}
          title="Ctrl or Cmd with Enter"
        >
          Run the cell
        </Button>
      </div>
    </Panel>
  );
}

interface RanCellProps {
  cell: CodeCell;
  number: number;
  busy: boolean;
  again(): void;
}

function RanCell({ cell, number, busy, again }: RanCellProps) {
  const room = { outputs: 200, markdownCharacters: 20_000 };
  return (
    <>
      <ShownCell cell={readCell(cell, room)} number={number} />
      <div className="row">
        <Button size="compact-xs" variant="subtle" disabled={busy} onClick={again}>
          Run again
        </Button>
      </div>
    </>
  );
}
