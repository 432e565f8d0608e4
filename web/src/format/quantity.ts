/** Formats bytes, counts and durations for people. */

const UNITS = ['B', 'KB', 'MB', 'GB', 'TB', 'PB'];

/** With three figures at most: 999 B, 1.2 MB, 340 GB; steps of 1024. */
export function formatBytes(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  const digits = unit === 0 || value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return `${trimmed(value, digits)} ${UNITS[unit]}`;
}

export function formatCount(count: number): string {
  return count.toLocaleString('en');
}

/** "1 file", "2 files". */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${formatCount(count)} ${count === 1 ? one : many}`;
}

/** The two largest units, such as 2 h 5 min; below a minute the seconds. */
export function formatMinutes(minutes: number): string {
  const whole = Math.round(minutes);
  if (whole < 1) return 'under 1 min';
  const days = Math.floor(whole / 1440);
  const hours = Math.floor((whole % 1440) / 60);
  const rest = whole % 60;
  if (days > 0) return hours > 0 ? `${days} d ${hours} h` : `${days} d`;
  if (hours > 0) return rest > 0 ? `${hours} h ${rest} min` : `${hours} h`;
  return `${rest} min`;
}

export function formatMs(ms: number): string {
  if (ms < 1000) return `${trimmed(ms, ms < 10 ? 1 : 0)} ms`;
  if (ms < 60_000) return `${trimmed(ms / 1000, 1)} s`;
  return formatMinutes(ms / 60_000);
}

/** "5 min ago", "in 2 h"; "now" within a minute. */
export function formatAway(time: string | number, now: number): string {
  const minutes = (new Date(time).getTime() - now) / 60_000;
  if (Math.abs(minutes) < 1) return 'now';
  const away = largestUnit(Math.abs(minutes));
  return minutes < 0 ? `${away} ago` : `in ${away}`;
}

function largestUnit(minutes: number): string {
  if (minutes < 60) return `${Math.floor(minutes)} min`;
  if (minutes < 1440) return `${Math.floor(minutes / 60)} h`;
  return `${Math.floor(minutes / 1440)} d`;
}

function trimmed(value: number, digits: number): string {
  return String(Number(value.toFixed(digits)));
}
