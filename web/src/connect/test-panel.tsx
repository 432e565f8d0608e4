/** Tests a key the way an agent uses it. */
import { Button } from '@mantine/core';
import { useMutation } from '@tanstack/react-query';
import { formatMs } from '../format/quantity.ts';
import { Icon } from '../parts/icon.tsx';
import { Facts, Panel } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';
import { probe } from './probe.ts';

export function TestPanel({ apiKey }: { apiKey: string }) {
  const test = useMutation({ mutationFn: () => probe(apiKey) });
  return (
    <Panel title="3. A test">
      <div className="row">
        <Button
          variant="default"
          loading={test.isPending}
          disabled={apiKey === ''}
          onClick={() => test.mutate()}
          leftSection={<Icon name="plug" size={14} />}
        >
          Test the key
        </Button>
        {apiKey === '' && <span className="dimmed">Enter or make a key first.</span>}
      </div>
      {test.error && <ProblemPanel title="The key does not work" error={test.error} />}
      {test.data && (
        <div role="status">
          <Facts
            facts={[
              ['HTTP', `answered as ${test.data.who.name} in ${formatMs(test.data.httpMs)}`],
              ['MCP', `${test.data.server} with ${test.data.tools} tools, in ${formatMs(test.data.mcpMs)}`],
            ]}
          />
        </div>
      )}
    </Panel>
  );
}
