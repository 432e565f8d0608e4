/** Shows outcomes of actions: in a corner for who sees, by the announcer for who hears. */
import { notifications } from '@mantine/notifications';
import { announce } from './announcer.tsx';
import { causeOf } from './problem.tsx';

const SHORT_MS = 4_000;
const LONG_MS = 12_000;
/** Its button is a picture only. */
const closeButtonProps = { 'aria-label': 'Hide the message' };

export function notifyDone(message: string): void {
  announce(message);
  notifications.show({
    ...{ message, closeButtonProps, autoClose: SHORT_MS, withBorder: true, role: 'presentation' },
  });
}

export function notifyFailed(title: string, error: unknown): void {
  const { detail, hint } = causeOf(error);
  const message = hint ? `${detail} ${hint}` : detail;
  notifications.show({
    ...{ title, message, closeButtonProps, color: 'red', autoClose: LONG_MS, withBorder: true },
  });
}
