/** Units of size, in bytes, and of time. */

export const KiB = 1024;
export const MiB = 1024 * KiB;
export const GiB = 1024 * MiB;
export const HOUR_MS = 60 * 60 * 1000;
