/** A share of a limit, as a bar and in figures. */
import classes from './parts.module.css';

interface MeterProps {
  label: string;
  used: number;
  /** null: without a limit. */
  limit: number | null;
  format?: (value: number) => string;
}

export function Meter({ label, used, limit, format = String }: MeterProps) {
  const share = limit === null || limit === 0 ? (limit === 0 && used > 0 ? 1 : 0) : Math.min(used / limit, 1);
  return (
    <div className={classes['meter']} data-full={share >= 0.9 || undefined}>
      <div className={classes['meterText']}>
        <span>{label}</span>
        <span className="numbers">
          {format(used)}
          <span className="dimmed"> / {limit === null ? 'no limit' : format(limit)}</span>
        </span>
      </div>
      <div className={classes['meterTrack']}>
        <div className={classes['meterBar']} style={{ width: `${share * 100}%` }} />
      </div>
    </div>
  );
}
