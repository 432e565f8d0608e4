/** The cells of a notebook, which stay while the page is open, and the context that runs them. */
import { isSandhavenError } from '@sandhaven/sdk';
import { useState } from 'react';
import { saveFile } from '../../parts/save-file.ts';
import { client } from '../../service/client.ts';
import { type CodeCell, displayed, ended, type Language, newCell, printed, toNotebook } from './cells.ts';

/** By sandbox and language. */
const notebooks = new Map<string, readonly CodeCell[]>();
/** Output is drawn no more often, however much is printed. */
const DRAW_MS = 100;

export function useNotebook(sandbox: { id: string; name: string }, language: Language) {
  const key = `${sandbox.id} ${language}`;
  const context = `page-${language}`;
  const [, redraw] = useState(0);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const cells = notebooks.get(key) ?? [];

  /** @param index Of the cell that is run again; a new one without. */
  async function run(source: string, index = cells.length): Promise<void> {
    let cell = newCell(source);
    let timer: ReturnType<typeof setTimeout> | undefined;
    const draw = () => {
      clearTimeout(timer);
      timer = undefined;
      const shown = [...(notebooks.get(key) ?? [])];
      shown[index] = cell;
      notebooks.set(key, shown);
      redraw((count) => count + 1);
    };
    const change = (changed: CodeCell) => {
      cell = changed;
      timer ??= setTimeout(draw, DRAW_MS);
    };
    setBusy(true);
    setError(null);
    draw();
    try {
      const parameters = { sandbox: sandbox.id, context, language, code: source, timeout_seconds: 600 };
      const result = await client.runInContext(parameters, {
        onStdout: (text) => change(printed(cell, 'stdout', text)),
        onStderr: (text) => change(printed(cell, 'stderr', text)),
        onDisplay: (shown) => change(displayed(cell, shown)),
      });
      cell = ended(cell, result);
    } catch (failure) {
      setError(failure);
    }
    draw();
    setBusy(false);
  }

  async function act(action: 'InterruptContext' | 'RestartContext'): Promise<void> {
    try {
      setError(null);
      await client.administration.call(action, { sandbox: sandbox.id, context });
    } catch (failure) {
      // A context that nothing ran in has nothing to forget.
      if (!isSandhavenError(failure, 'not_found')) setError(failure);
    }
  }

  return {
    ...{ cells, busy, error, run },
    interrupt: () => act('InterruptContext'),
    restart: () => act('RestartContext'),
    download: () =>
      saveFile(
        `${sandbox.name}.ipynb`,
        new Blob([toNotebook(cells, language)], { type: 'application/x-ipynb+json' }),
      ),
  };
}
