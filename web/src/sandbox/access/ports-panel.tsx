/** Ports with a listener inside; each opens in a tab of its own by a signed URL. */

import { Button, Checkbox, NumberInput } from '@mantine/core';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { RefreshButton } from '../../parts/buttons.tsx';
import { CopyIcon } from '../../parts/copy.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Loading } from '../../parts/loading.tsx';
import { Panel } from '../../parts/page.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { client } from '../../service/client.ts';
import classes from '../sandbox.module.css';
import { useSandbox } from '../sandbox.ts';

const SIGNED_SECONDS = 3_600;

export function PortsPanel() {
  const { id, state } = useSandbox();
  const started = state === 'started';
  const { data, error, refetch, isFetching } = useQuery({
    queryKey: ['inside', id, 'ports'],
    queryFn: ({ signal }) => client.listPorts({ sandbox: id }, { signal }),
    enabled: started,
  });
  const [port, setPort] = useState<number | string>(8080);
  return (
    <Panel title="Ports" actions={started && <RefreshButton busy={isFetching} refresh={refetch} />}>
      {!started && <div className="dimmed">Nothing listens: the sandbox is {state}.</div>}
      {started && !data && !error && <Loading what="ports" lines={2} />}
      {error && <ProblemPanel title="Not listed" error={error} />}
      <ul className={classes['plain']}>
        {data?.ports.map(({ port: number, name, command }) => (
          <li key={number} className="row">
            <strong className="numbers">{number}</strong>
            <span className="grow ellipsis dimmed" title={command ?? name}>
              {command ?? name}
            </span>
            <PublicPort port={number} />
            <OpenPort port={number} />
          </li>
        ))}
        {data?.ports.length === 0 && <li className="dimmed">No program listens on a port.</li>}
      </ul>
      <div className="row-end">
        <NumberInput label="Another port" min={1} max={65_535} value={port} onChange={setPort} />
        {Number(port) > 0 && <OpenPort port={Number(port)} />}
      </div>
    </Panel>
  );
}

/** A switch where the operator lets owners open ports; it moves this port alone. */
function PublicPort({ port }: { port: number }) {
  const { id } = useSandbox();
  const queryKey = ['inside', id, 'public-ports'];
  const cache = useQueryClient();
  const { data } = useQuery({ queryKey, queryFn: ({ signal }) => client.access.publicPorts(id, { signal }) });
  const set = useMutation({
    mutationFn: (isOpen: boolean) => {
      const others = (data?.ports ?? []).filter((one) => one !== port);
      return client.access.setPublicPorts(id, isOpen ? [...others, port] : others);
    },
    onSuccess: (now) => cache.setQueryData(queryKey, now),
  });
  if (!data?.allowed) return null;
  return (
    <span className="row">
      <Checkbox
        label="Public"
        aria-label={`Port ${port} is open to everybody`}
        checked={data.all || data.ports.includes(port)}
        disabled={data.all || set.isPending}
        onChange={(event) => set.mutate(event.currentTarget.checked)}
      />
      {set.error && <ProblemPanel title="Not changed" error={set.error} />}
    </span>
  );
}

function OpenPort({ port }: { port: number }) {
  const { id } = useSandbox();
  const open = useMutation({
    mutationFn: () =>
      client.getPortPreviewUrl({ sandbox: id, port, signed: true, expires_in_seconds: SIGNED_SECONDS }),
    onSuccess: ({ url }) => openTab(url),
  });
  return (
    <span className="row">
      <Button
        variant="default"
        loading={open.isPending}
        leftSection={<Icon name="link" size={14} />}
        onClick={() => open.mutate()}
        aria-label={`Open port ${port} in a new tab`}
      >
        Open
      </Button>
      {open.data && (
        <CopyIcon text={open.data.url} label={`Copy the URL of port ${port}, valid for an hour`} />
      )}
      {open.error && <ProblemPanel title="Not opened" error={open.error} />}
    </span>
  );
}

/** The site inside is not trusted: it gets neither this page's address nor its window. */
function openTab(url: string): void {
  if (!/^https?:$/.test(URL.parse(url)?.protocol ?? '')) return;
  const link = document.createElement('a');
  Object.assign(link, { href: url, target: '_blank', rel: 'noopener noreferrer' });
  link.click();
}
