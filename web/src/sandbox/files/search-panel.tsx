/** Finds lines in the files of the workspace. */
import { Button, Checkbox, TextInput } from '@mantine/core';
import type { SearchContentResult } from '@sandhaven/sdk';
import { useMutation } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { counted } from '../../format/quantity.ts';
import { ProblemPanel } from '../../parts/problem.tsx';
import { client } from '../../service/client.ts';
import classes from './files.module.css';
import { absolute } from './reading/paths.ts';

const MOST_FILES = 100;

interface SearchPanelProps {
  sandbox: string;
  path: string;
  open(path: string, line: number): void;
}

export function SearchPanel({ sandbox, path, open }: SearchPanelProps) {
  const [query, setQuery] = useState('');
  const [names, setNames] = useState('');
  const [literal, setLiteral] = useState(false);
  const search = useMutation({
    mutationFn: () =>
      client.searchContent({
        ...{ sandbox, path, query, max_items: MOST_FILES },
        ...(names.trim() === '' ? {} : { file_pattern: names.trim() }),
        ...(literal ? { literal } : {}),
      }),
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (query !== '') search.mutate();
  };
  return (
    <div className="stack">
      <search>
        <form className="stack" onSubmit={submit}>
          <TextInput
            label="Expression"
            value={query}
            onChange={({ currentTarget }) => setQuery(currentTarget.value)}
            spellCheck={false}
          />
          <TextInput
            label="File names"
            placeholder="*.py"
            value={names}
            onChange={({ currentTarget }) => setNames(currentTarget.value)}
            spellCheck={false}
          />
          <div className="row">
            <Checkbox
              label="Plain text"
              checked={literal}
              onChange={({ currentTarget }) => setLiteral(currentTarget.checked)}
            />
            <span className="grow" />
            <Button type="submit" loading={search.isPending} disabled={query === ''}>
              Search
            </Button>
          </div>
        </form>
      </search>
      {search.error && <ProblemPanel title="The search failed" error={search.error} />}
      {search.data && <Found result={search.data} open={open} />}
    </div>
  );
}

function Found({ result, open }: { result: SearchContentResult; open: SearchPanelProps['open'] }) {
  return (
    <div className={classes['found']}>
      <div className="dimmed small" role="status">
        {result.total_count === 0 ? 'Nothing was found.' : counted(result.total_count, 'file')}
        {result.has_more && `, the first ${result.files.length} of them`}
        {result.note && ` ${result.note}`}
      </div>
      {result.files.map(({ path, matches = [], capped }) => (
        <section key={path} aria-label={path}>
          <h3 className="break">{path}</h3>
          <ul className={classes['list']}>
            {matches.map(({ line, text }) => (
              <li key={line}>
                <button type="button" className={classes['match']} onClick={() => open(absolute(path), line)}>
                  <span className="dimmed numbers">{line}</span>
                  <code className="ellipsis">{text.trim()}</code>
                </button>
              </li>
            ))}
            {capped && <li className="dimmed small">and more lines</li>}
          </ul>
        </section>
      ))}
    </div>
  );
}
