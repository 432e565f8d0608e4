/** Sandbox toolkit: Git, and its authentication. */
import type { Rules } from './requirement.ts';

export const sandboxGit: Rules = {
  'SBX-GIT-01': 'GitClone requires url and gives the path and the branch of the clone.',
  'SBX-GIT-02': 'GitClone: path defaults to a name derived from the URL.',
  'SBX-GIT-03': 'GitClone: branch defaults to the repository’s default branch.',
  'SBX-GIT-04': 'GitClone: commit_id checks out that commit; it defaults to the head of the branch.',
  'SBX-GIT-05': 'GitClone: username and password authenticate at remotes other than the hosted provider’s.',
  'SBX-GIT-06': 'GitClone: password is ignored for remotes of the hosted provider.',
  'SBX-GIT-07': 'GitStatus gives branch, staged, modified and untracked files, and ahead and behind counts.',
  'SBX-GIT-08': 'GitAdd requires files; ["."] stages everything; it confirms.',
  'SBX-GIT-09': 'GitCommit requires message and gives the SHA.',
  'SBX-GIT-10': 'GitCommit: author_name and author_email default to the sandbox’s git configuration.',
  'SBX-GIT-11': 'GitCommit with nothing staged is refused.',
  'SBX-GIT-12': 'GitBranches lists the branches and marks the current one.',
  'SBX-GIT-13': 'GitCheckout requires ref and switches to an existing branch, tag or commit.',
  'SBX-GIT-14':
    'GitCheckout with create_new_branch (default false) makes the branch `ref` and switches to it.',
  'SBX-GIT-15': 'GitCheckout: start_point defaults to HEAD and is used only with create_new_branch.',
  'SBX-GIT-16': 'GitCreateBranch requires branch, starts at start_point (default HEAD) and switches to it.',
  'SBX-GIT-17': 'GitDeleteBranch requires branch and deletes local branches only.',
  'SBX-GIT-18': 'GitDeleteBranch: force defaults to false; an unmerged branch needs it.',
  'SBX-GIT-19': 'GitLog gives hash, author, date and message of each commit.',
  'SBX-GIT-20': 'GitLog: max_count defaults to 20; branch defaults to the current one.',
  'SBX-GIT-21': 'GitPull: branch defaults to the current tracking branch.',
  'SBX-GIT-22': 'GitPush: branch defaults to the current one.',
  'SBX-GIT-23': 'GitPush: force defaults to false.',
  'SBX-GIT-24': 'In all Git tools `sandbox` and `path` (the repository) are optional.',
  'SBX-GIT-25':
    'Clone, pull and push at the hosted provider use the user’s one-time authorization, refreshed by itself.',
  'SBX-GIT-26': 'In OAuth mode the authorization asks for the scope repo.',
  'SBX-GIT-27':
    'In app-installation mode contents: read suffices for clone and pull, contents: write for push.',
  'SBX-GIT-28': 'Pull and push reuse the credentials given at clone, or those configured in the sandbox.',
};
