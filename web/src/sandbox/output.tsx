/** Output of a program, as text. Colour codes of terminals are left out. */
import type { ReactNode } from 'react';
import { plainText } from './plain-text.ts';
import classes from './sandbox.module.css';

interface OutputProps {
  label: string;
  text: string;
  none: string;
  children?: ReactNode;
}

export function Output({ label, text, none, children }: OutputProps) {
  if (text === '') return <div className="dimmed">{none}</div>;
  return (
    <pre className={classes['output']} tabIndex={0} role="region" aria-label={label}>
      {plainText(text)}
      {children}
    </pre>
  );
}
