/** A time as its distance from now, with the exact one on hover. */
import { formatAway } from '../format/quantity.ts';
import { useNow } from './now.ts';

export function Away({ time }: { time: string | null }) {
  const now = useNow();
  if (time === null) return <span className="dimmed">never</span>;
  return (
    <time dateTime={time} title={new Date(time).toLocaleString()}>
      {formatAway(time, now)}
    </time>
  );
}
