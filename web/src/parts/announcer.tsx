/** Reads results out to screen readers, without moving the focus. */
import { VisuallyHidden } from '@mantine/core';
import { useEffect, useState } from 'react';

const listeners = new Set<(text: string) => void>();

export function announce(text: string): void {
  for (const listener of listeners) listener(text);
}

export function Announcer() {
  const [text, setText] = useState('');
  useEffect(() => {
    listeners.add(setText);
    return () => void listeners.delete(setText);
  }, []);
  return (
    <VisuallyHidden role="status" aria-live="polite">
      {text}
    </VisuallyHidden>
  );
}
