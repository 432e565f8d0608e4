/** Secrets that the sandbox uses without having them. */
import { Facts, Panel } from '../../parts/page.tsx';
import { useSandbox } from '../sandbox.ts';

export function SecretsPanel() {
  const { secrets = [] } = useSandbox();
  return (
    <Panel title="Secrets">
      {secrets.length === 0 && (
        <div className="dimmed">
          None. <code>sandhaven create --secret NAME</code> makes a sandbox that uses one.
        </div>
      )}
      {secrets.length > 0 && (
        <>
          <div className="dimmed">
            Each variable holds a placeholder. The value takes its place outside, in requests to the hosts
            that it is for.
          </div>
          <Facts facts={secrets.map(({ name, variable }) => [name, <code key={name}>{variable}</code>])} />
        </>
      )}
    </Panel>
  );
}
