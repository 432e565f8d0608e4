/** Parses callers' times in ISO 8601. The platform's own parser accepts far more, and guesses. */

const form =
  /^([+-]\d{6}|\d{4})-(\d\d)-(\d\d)(?:[Tt ](\d\d):(\d\d)(?::(\d\d)(?:[.,](\d{1,9}))?)?\s*(?:([Zz])|([+-])(\d\d):?(\d\d)?)?)?$/;
const MINUTE_MS = 60_000;

/** Returns milliseconds since 1970, in UTC without a zone; null for an invalid time. */
export function parseInstant(text: string): number | null {
  const parts = form.exec(text);
  if (parts === null) return null;
  const [year, month, day, hour, minute, second] = parts.slice(1, 7).map((part) => Number(part ?? 0)) as [
    number,
    number,
    number,
    number,
    number,
    number,
  ];
  const ms = Number((parts[7] ?? '').slice(0, 3).padEnd(3, '0'));
  if (minute > 59 || second > 59 || hour > 24) return null;
  // 24:00 is the end of the day, and nothing follows it.
  if (hour === 24 && minute + second + ms > 0) return null;
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  // Date would turn the 30th of February into a day of March.
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return null;
  const [offsetHours, offsetMinutes] = [Number(parts[10] ?? 0), Number(parts[11] ?? 0)];
  if (offsetHours > 23 || offsetMinutes > 59) return null;
  const offset = (offsetHours * 60 + offsetMinutes) * MINUTE_MS * (parts[9] === '-' ? -1 : 1);
  const instant = date.getTime() + ((hour * 60 + minute) * 60 + second) * 1000 + ms - offset;
  return Number.isNaN(new Date(instant).getTime()) ? null : instant;
}
