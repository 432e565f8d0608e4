/** Closes the section "Unreleased" of the changelog. */

const UNRELEASED = '## Unreleased\n';

/**
 * Returns the changelog with the changes under a version, and an empty section before it. Throws when there are no
 * changes, or the version has a section.
 *
 * @param date As 2026-01-31.
 */
export function closeUnreleased(text: string, version: string, date: string): string {
  const [before = '', after, ...more] = text.split(UNRELEASED);
  if (after === undefined || more.length > 0)
    throw new Error('CHANGELOG.md has no single section "Unreleased"');
  const section = after.split('\n## ', 1)[0] ?? '';
  if (!/^- /m.test(section)) throw new Error('CHANGELOG.md has no changes under "Unreleased"');
  if (text.split('\n').some((line) => line.startsWith(`## ${version} `))) {
    throw new Error(`CHANGELOG.md has a section ${version}`);
  }
  return `${before}${UNRELEASED}\n## ${version} - ${date}\n${after}`;
}
