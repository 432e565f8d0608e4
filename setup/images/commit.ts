/** The commit that last changed given files: its time and name make the same image of the same files. */
import { command } from '../command.ts';

export interface Commit {
  /** Seconds since 1970. */
  epoch: number;
  /** Hash of the commit, `-dirty` when the files differ from it; empty outside a repository. */
  revision: string;
}

/** SOURCE_DATE_EPOCH in the environment sets another time. Outside a repository, the time is 1970. */
export async function lastCommit(home: string, paths: string[]): Promise<Commit> {
  const given = process.env['SOURCE_DATE_EPOCH'];
  const git = (...argv: string[]) => command('git', ['-C', home, ...argv, '--', ...paths]).catch(() => '');
  const [seconds = '', hash = ''] = (await git('log', '-1', '--format=%ct %H')).trim().split(' ');
  const changed = hash === '' ? '' : await git('status', '--porcelain');
  return {
    epoch: Number(given ?? seconds) || 0,
    revision: changed === '' ? hash : `${hash}-dirty`,
  };
}
