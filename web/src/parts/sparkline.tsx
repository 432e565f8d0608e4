/** A small line of values, the newest on the right, with a text for screen readers. */
import { LINE_HEIGHT, LINE_WIDTH, pointsOf } from '../format/line-points.ts';
import classes from './parts.module.css';

interface SparklineProps {
  /** Text with the subject of the line, and its newest value. */
  label: string;
  values: number[];
  /** Value at the upper edge. */
  most: number;
}

/** Values that fill the width. */
const ACROSS = 60;

export function Sparkline({ label, values, most }: SparklineProps) {
  return (
    <svg
      className={classes['sparkline']}
      viewBox={`0 0 ${LINE_WIDTH} ${LINE_HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      <polyline points={pointsOf(values, most, ACROSS)} />
    </svg>
  );
}
