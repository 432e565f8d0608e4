/**
 * Version of runc, and the check for known escapes: CVE-2025-31133, -52565 and -52881 (masked paths and
 * /dev/console redirected by races during start) are fixed in 1.2.8, 1.3.3 and 1.4.0-rc.3.
 *
 * A distribution may patch an older version without renaming it; the version does not show that, so it counts
 * as vulnerable.
 */

export interface RuncVersion {
  /** Version as printed by runc. */
  text: string;
  major: number;
  minor: number;
  patch: number;
  /** Number of the release candidate; null for a release. */
  candidate: number | null;
}

/** @param output Output of `runc --version`. Returns null for any other output. */
export function parseRuncVersion(output: string): RuncVersion | null {
  const match = /^runc version (v?(\d{1,4})\.(\d{1,4})\.(\d{1,4})(?:-rc\.?(\d{1,4}))?\S*)/m.exec(output);
  if (!match) return null;
  const [, text = '', major, minor, patch, candidate] = match;
  return {
    text,
    major: Number(major),
    minor: Number(minor),
    patch: Number(patch),
    candidate: candidate === undefined ? null : Number(candidate),
  };
}

export function isVulnerable(version: RuncVersion): boolean {
  const { major, minor, patch, candidate } = version;
  if (major !== 1) return major < 1;
  if (minor < 2) return true;
  if (minor === 2) return patch < 8 || (patch === 8 && candidate !== null);
  if (minor === 3) return patch < 3 || (patch === 3 && candidate !== null);
  if (minor === 4) return patch === 0 && candidate !== null && candidate < 3;
  return false;
}
