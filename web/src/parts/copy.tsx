/** Copies a text, and confirms it. */
import { ActionIcon, Tooltip } from '@mantine/core';
import { useState } from 'react';
import { announce } from './announcer.tsx';
import { Icon } from './icon.tsx';
import classes from './parts.module.css';

const SHOWN_MS = 1_500;

export function CopyIcon({ text, label }: { text: string; label: string }) {
  const [copied, setCopied] = useState(false);
  const copy = async () => {
    await writeClipboard(text);
    setCopied(true);
    announce('Copied');
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return (
    <Tooltip label={copied ? 'Copied' : label}>
      <ActionIcon variant="subtle" color="gray" c="dimmed" aria-label={label} onClick={() => void copy()}>
        <Icon name={copied ? 'check' : 'copy'} />
      </ActionIcon>
    </Tooltip>
  );
}

/** A text to copy whole. */
export function CodeBlock({ text, label }: { text: string; label: string }) {
  return (
    <div className={classes['code']}>
      <pre tabIndex={0} role="region" aria-label={label}>
        {text}
      </pre>
      <div className={classes['codeCopy']}>
        <CopyIcon text={text} label={`Copy ${label}`} />
      </div>
    </div>
  );
}

/** The clipboard of browsers is there on secure pages only; elsewhere a selection is copied. */
export async function writeClipboard(text: string): Promise<void> {
  if (navigator.clipboard) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  (document.querySelector('[role="dialog"]') ?? document.body).append(field);
  field.select();
  document.execCommand('copy');
  field.remove();
}
