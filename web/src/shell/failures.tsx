/** Screens of last resort: an address without a screen, and a screen that failed. */
import { Button } from '@mantine/core';
import { Link } from '@tanstack/react-router';
import { Empty } from '../parts/empty.tsx';
import { Page } from '../parts/page.tsx';
import { ProblemPanel } from '../parts/problem.tsx';

export function NotFound() {
  return (
    <Page title="Not found">
      <Empty icon="search" title="There is no page at this address">
        <Link to="/sandboxes">Go to your sandboxes</Link>
      </Empty>
    </Page>
  );
}

export function Crashed({ error }: { error: unknown }) {
  return (
    <Page title="This page failed">
      <ProblemPanel title="This page failed" error={error} />
      <div>
        <Button onClick={() => window.location.reload()}>Load it again</Button>
      </div>
    </Page>
  );
}
