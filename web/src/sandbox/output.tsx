/** Output of a program, as text. Colour codes of terminals are left out. */
import { SegmentedControl } from '@mantine/core';
import { type Ref, useLayoutEffect, useRef } from 'react';
import { plainText } from './plain-text.ts';
import classes from './sandbox.module.css';

/** `output`: both streams, in the order of the writes. */
export type Stream = 'output' | 'stdout' | 'stderr';

export function StreamChoice({ stream, choose }: { stream: Stream; choose(stream: Stream): void }) {
  return (
    <SegmentedControl
      aria-label="Stream"
      value={stream}
      onChange={(value) => choose(value as Stream)}
      data={[
        { value: 'output', label: 'Both' },
        { value: 'stdout', label: 'stdout' },
        { value: 'stderr', label: 'stderr' },
      ]}
    />
  );
}

interface OutputProps {
  label: string;
  text: string;
  none: string;
  ref?: Ref<HTMLPreElement>;
}

export function Output({ label, text, none, ref }: OutputProps) {
  if (text === '') return <div className="dimmed">{none}</div>;
  return (
    <pre ref={ref} className={classes['output']} tabIndex={0} role="region" aria-label={label}>
      {plainText(text)}
    </pre>
  );
}

const NEAR_PX = 30;

/** Output that grows: its end stays in view, until somebody scrolls up to read. */
export function LiveOutput(props: Omit<OutputProps, 'ref'>) {
  const box = useRef<HTMLPreElement>(null);
  const before = useRef({ clientHeight: 0, scrollHeight: 0 });
  useLayoutEffect(() => {
    const { scrollTop = 0, clientHeight = 0, scrollHeight = 0 } = box.current ?? {};
    const wasAtEnd = scrollTop + clientHeight >= before.current.scrollHeight - NEAR_PX;
    if (wasAtEnd) box.current?.scrollTo(0, scrollHeight);
    if (clientHeight > before.current.clientHeight) box.current?.scrollIntoView({ block: 'nearest' });
    before.current = { clientHeight, scrollHeight };
  });
  return <Output {...props} ref={box} />;
}
