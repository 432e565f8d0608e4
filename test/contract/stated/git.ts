/** Sandbox toolkit, "Git". */
import { optional, required, tool } from '../notation.ts';

/** All but GitClone take both; there `path` is the destination. */
const repository = { sandbox: optional.string, path: optional.string };

export const git = [
  tool('Sandbox.GitClone', {
    url: required.string,
    ...repository,
    branch: optional.string,
    commit_id: optional.string,
    username: optional.string,
    password: optional.string,
  }),
  tool('Sandbox.GitStatus', repository),
  tool('Sandbox.GitAdd', { files: required.strings, ...repository }),
  tool('Sandbox.GitCommit', {
    message: required.string,
    ...repository,
    author_name: optional.string,
    author_email: optional.string,
  }),
  tool('Sandbox.GitBranches', repository),
  tool('Sandbox.GitCheckout', {
    ref: required.string,
    ...repository,
    create_new_branch: optional.boolean({ default: false }),
    start_point: optional.string,
  }),
  tool('Sandbox.GitCreateBranch', {
    branch: required.string,
    ...repository,
    start_point: optional.string,
  }),
  tool('Sandbox.GitDeleteBranch', {
    branch: required.string,
    ...repository,
    force: optional.boolean({ default: false }),
  }),
  tool('Sandbox.GitLog', {
    ...repository,
    max_count: optional.integer({ default: 20 }),
    branch: optional.string,
  }),
  tool('Sandbox.GitPull', { ...repository, branch: optional.string }),
  tool('Sandbox.GitPush', {
    ...repository,
    branch: optional.string,
    force: optional.boolean({ default: false }),
  }),
];
