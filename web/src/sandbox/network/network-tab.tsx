/** Network tab: what the sandbox may reach, the secrets that it uses there, and what it reached. */
import { useQuery } from '@tanstack/react-query';
import { Loading } from '../../parts/loading.tsx';
import { ProblemPanel } from '../../parts/problem.tsx';
import { networks } from '../../service/networks.ts';
import classes from '../sandbox.module.css';
import { useSandbox } from '../sandbox.ts';
import { LogPanel } from './log-panel.tsx';
import { NetworkPanel } from './network-panel.tsx';
import { SecretsPanel } from './secrets-panel.tsx';

export function NetworkTab() {
  const { id } = useSandbox();
  const { data, error, refetch } = useQuery({
    // Asked for again with the sandbox, when somebody changes it.
    queryKey: ['sandbox', id, 'network'],
    queryFn: () => networks.get(id),
  });
  if (!data) {
    return error ? (
      <ProblemPanel title="The network cannot be shown" error={error} retry={() => void refetch()} />
    ) : (
      <Loading what="the network" />
    );
  }
  return (
    <div className="stack">
      <div className={classes['columns']}>
        <NetworkPanel shown={data} />
        <SecretsPanel />
      </div>
      <LogPanel network={data.network} />
    </div>
  );
}
