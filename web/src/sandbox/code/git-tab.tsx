/** A Git repository in the sandbox: what has changed, and its commits. */
import { Button, TextInput } from '@mantine/core';
import type { GitStatusResult } from '@sandhaven/sdk';
import { isSandhavenError } from '@sandhaven/sdk';
import { useQuery } from '@tanstack/react-query';
import { type FormEvent, useState } from 'react';
import { counted } from '../../format/quantity.ts';
import { Away } from '../../parts/away.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Facts, Panel } from '../../parts/page.tsx';
import { causeOf, ProblemPanel } from '../../parts/problem.tsx';
import { client } from '../../service/client.ts';
import { NeedsStart } from '../needs-start.tsx';
import classes from '../sandbox.module.css';
import { useSandbox } from '../sandbox.ts';

const COMMITS = 50;

export function GitTab() {
  return (
    <NeedsStart what="Repositories">
      <Repository />
    </NeedsStart>
  );
}

function Repository() {
  const { id } = useSandbox();
  const [path, setPath] = useState('');
  const [asked, setAsked] = useState('');
  const at = { sandbox: id, ...(asked === '' ? {} : { path: asked }) };
  const status = useQuery({
    queryKey: ['inside', id, 'git', asked, 'status'],
    queryFn: ({ signal }) => client.gitStatus(at, { signal }),
  });
  const log = useQuery({
    queryKey: ['inside', id, 'git', asked, 'log'],
    queryFn: ({ signal }) => client.gitLog({ ...at, max_count: COMMITS }, { signal }),
    enabled: status.isSuccess,
  });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setAsked(path.trim());
    if (path.trim() === asked) void status.refetch().then(() => log.refetch());
  };
  return (
    <div className="stack">
      <form className="row-end" onSubmit={submit}>
        <TextInput
          label="Repository"
          placeholder="the one in /workspace"
          value={path}
          spellCheck={false}
          onChange={({ currentTarget }) => setPath(currentTarget.value)}
        />
        <Button
          type="submit"
          variant="default"
          loading={status.isFetching}
          leftSection={<Icon name="refresh" size={14} />}
        >
          Look
        </Button>
      </form>
      {status.isPending && <Loading what="the repository" />}
      {status.error && <NoRepository error={status.error} />}
      {status.data && !status.error && (
        <div className={classes['columns']}>
          <StatusPanel status={status.data} />
          <Panel title="Commits">
            {log.isPending && <Loading what="commits" />}
            {log.error && <ProblemPanel title="No commits can be shown" error={log.error} />}
            <ul className={classes['plain']}>
              {log.data?.commits.map(({ hash, author, email, date, message }) => (
                <li key={hash}>
                  <div className="break">{message.split('\n')[0]}</div>
                  <div className="row dimmed small">
                    <code title={hash}>{hash.slice(0, 10)}</code>
                    <span title={email}>{author}</span>
                    <Away time={date} />
                  </div>
                </li>
              ))}
              {log.data?.commits.length === 0 && <li className="dimmed">There is no commit yet.</li>}
            </ul>
          </Panel>
        </div>
      )}
    </div>
  );
}

function NoRepository({ error }: { error: unknown }) {
  if (!isSandhavenError(error, 'not_found') && !isSandhavenError(error, 'failed_precondition')) {
    return <ProblemPanel title="The repository cannot be read" error={error} />;
  }
  const { detail, hint } = causeOf(error);
  return (
    <Empty icon="branch" title="No repository is shown">
      {detail} {hint}
    </Empty>
  );
}

function StatusPanel({ status }: { status: GitStatusResult }) {
  const { branch, upstream, ahead, behind, staged, modified, untracked, conflicted } = status;
  const groups: [string, string[]][] = [
    ['Conflicts', conflicted],
    ['Staged', staged],
    ['Modified', modified],
    ['Untracked', untracked],
  ];
  const shown = groups.filter(([, paths]) => paths.length > 0);
  return (
    <Panel title="Status">
      <Facts
        facts={[
          ['Branch', branch ?? 'detached'],
          [
            'Upstream',
            upstream === null ? 'none' : `${upstream}: ${counted(ahead, 'commit')} ahead, ${behind} behind`,
          ],
          ...(status.repository === undefined
            ? []
            : ([['Found in', status.repository]] as [string, string][])),
        ]}
      />
      {shown.length === 0 && <div className="dimmed">Nothing has changed.</div>}
      <div className={classes['changes']}>
        {shown.map(([title, paths]) => (
          <section key={title} aria-label={title}>
            <h3>
              {title} {paths.length}
            </h3>
            <ul className={classes['plain']}>
              {paths.slice(0, 200).map((path) => (
                <li key={path} className="break">
                  <code>{path}</code>
                </li>
              ))}
              {paths.length > 200 && <li className="dimmed">and {paths.length - 200} more</li>}
            </ul>
          </section>
        ))}
      </div>
    </Panel>
  );
}
