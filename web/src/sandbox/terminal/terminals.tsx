/** Terminals as tabs, of which one is on the screen: the others keep running. */
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { getRouteApi } from '@tanstack/react-router';
import { lazy, Suspense, useEffect, useState } from 'react';
import { RefreshButton } from '../../parts/buttons.tsx';
import { Confirm } from '../../parts/confirm.tsx';
import { Empty } from '../../parts/empty.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loading } from '../../parts/loading.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { useSandbox } from '../sandbox.ts';
import { NewTerminal } from './name-form.tsx';
import { freeName } from './names.ts';
import { terminalsQuery } from './queries.ts';
import { PANEL_ID, TabList, tabId } from './tab-list.tsx';
import classes from './terminal.module.css';
import { useEnding } from './use-ending.tsx';

/** xterm is loaded with the first terminal. */
const Screen = lazy(() => import('./screen.tsx'));

const route = getRouteApi('/sandboxes/$id/terminal');

export function Terminals() {
  const { id } = useSandbox();
  const navigate = route.useNavigate();
  const { terminal: chosen } = route.useSearch();
  const { data: listed, error, refetch } = useQuery(terminalsQuery(id));
  const [asks, setAsks] = useState(false);
  const [user, setUser] = useState('');
  const choose = (terminal: string | undefined) =>
    void navigate({ search: terminal === undefined ? {} : { terminal }, replace: true });
  const taken = listed?.map(({ terminal }) => terminal) ?? [];
  const names = chosen === undefined || taken.includes(chosen) ? taken : [...taken, chosen];
  const ending = useEnding(id, (ended) => {
    choose(names.find((name) => name !== ended));
    void refetch();
  });
  const [first] = taken;
  // The address names the terminal that is shown, so that a reload shows it again.
  useEffect(() => {
    if (chosen === undefined && first !== undefined) choose(first);
  });
  if (!listed) {
    if (error) return <ProblemPanel title="Not listed" error={error} retry={() => void refetch()} />;
    return <Loading what="terminals" />;
  }
  if (chosen === undefined) {
    return first === undefined ? <NoTerminal open={() => choose(freeName(taken))} /> : null;
  }
  return (
    <div className={classes['terminals']}>
      <div className="row">
        <TabList names={names} listed={listed} chosen={chosen} choose={choose} />
        <Button variant="default" leftSection={<Icon name="plus" size={14} />} onClick={() => setAsks(true)}>
          New
        </Button>
        <RefreshButton refresh={refetch} />
        <Button variant="default" onClick={() => void ending.ask(chosen)}>
          End
        </Button>
      </div>
      {error && <ProblemPanel title="Not listed" error={error} retry={() => void refetch()} />}
      <div role="tabpanel" id={PANEL_ID} aria-labelledby={tabId(chosen)} className={classes['panel']}>
        <Suspense fallback={<Loading what="the terminal" />}>
          <Screen
            key={`${id} ${chosen}`}
            sandbox={id}
            terminal={chosen}
            user={user}
            changed={() => void refetch()}
            leave={() => document.getElementById(tabId(chosen))?.focus()}
          />
        </Suspense>
      </div>
      <NewTerminal
        opened={asks}
        taken={names}
        open={(name, asUser) => {
          setUser(asUser);
          choose(name);
        }}
        close={() => setAsks(false)}
      />
      <Confirm question={ending.question} close={ending.close} />
    </div>
  );
}

function NoTerminal({ open }: { open(): void }) {
  return (
    <Empty icon="terminal" title="No terminal is open">
      <div className="stack" style={{ alignItems: 'center' }}>
        <span>
          A terminal is a shell that keeps running when you leave, and shows its output when you return.
        </span>
        <Button onClick={open}>Open a terminal</Button>
      </div>
    </Empty>
  );
}
