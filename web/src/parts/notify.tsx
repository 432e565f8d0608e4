/** Shows outcomes of actions: in a corner of the screen, and through the announcer for screen readers. */
import { notifications } from '@mantine/notifications';
import { announce } from './announcer.tsx';
import { causeOf } from './problem.tsx';

const SHORT_MS = 4_000;
const LONG_MS = 12_000;
const common = { withBorder: true, closeButtonProps: { 'aria-label': 'Dismiss' } };

export function notifyDone(message: string): void {
  announce(message);
  notifications.show({ message, autoClose: SHORT_MS, role: 'presentation', ...common });
}

export function notifyFailed(title: string, error: unknown): void {
  const { detail, hint } = causeOf(error);
  const message = hint ? `${detail} ${hint}` : detail;
  notifications.show({ title, message, color: 'red', autoClose: LONG_MS, ...common });
}
