/** Shows an error of the service: the cause, the next step, and the id that finds it in the log. */
import { Alert, Button } from '@mantine/core';
import { SandhavenError } from '@sandhaven/sdk';
import { Icon } from './icon.tsx';

export interface Cause {
  detail: string;
  hint: string | undefined;
  requestId: string | undefined;
}

export function causeOf(error: unknown): Cause {
  if (error instanceof SandhavenError) {
    return { detail: error.detail, hint: error.hint, requestId: error.requestId };
  }
  const detail = error instanceof Error ? error.message : 'Something failed in this page.';
  return { detail, hint: undefined, requestId: undefined };
}

export function ProblemPanel({ title, error, retry }: { title: string; error: unknown; retry?: () => void }) {
  const { detail, hint, requestId } = causeOf(error);
  return (
    <Alert
      color="red"
      variant="light"
      title={title}
      icon={<Icon name="warning" />}
      styles={{ title: { color: 'var(--mantine-color-error)' } }}
    >
      <div className="stack break">
        <div>
          {detail} {hint}
        </div>
        {requestId && (
          <div className="small">
            Request <code>{requestId}</code>
          </div>
        )}
        {retry && (
          <div>
            <Button variant="default" onClick={retry}>
              Try again
            </Button>
          </div>
        )}
      </div>
    </Alert>
  );
}
