/** Identifiers: their forms, and the drawing of new ones. */
import { randomInt } from 'node:crypto';

const ALPHABET = '0123456789abcdefghijklmnopqrstuvwxyz';

/** "sb_" and 16 of [0-9a-z]: 82 bits, so an id is never drawn twice. */
export const sandboxIdPattern = /^sb_[0-9a-z]{16}$/;

export const signInIdPattern = /^sgn_[0-9a-z]{16}$/;

export function newSandboxId(): string {
  return `sb_${randomText(16)}`;
}

export function newSnapshotId(): string {
  return `snap_${randomText(16)}`;
}

/** Id of the captured disk that the sandboxes of a fork are made from, while they are. */
export function newForkId(): string {
  return `fork_${randomText(16)}`;
}

/** Id of the captured disk of a build's step. */
export function newStepId(): string {
  return `step_${randomText(16)}`;
}

/** Captured disks of snapshots, of forks, and of builds' steps. */
export const captureIdPattern = /^(snap|fork|step)_[0-9a-z]{16}$/;

export function newBuildId(): string {
  return `build_${randomText(16)}`;
}

export function isBuildId(id: string): boolean {
  return /^build_[0-9a-z]{16}$/.test(id);
}

/** Ids of a build and of the sandbox that it is for share their random part. */
export function sandboxOfBuild(buildId: string): string {
  return buildId.replace('build_', 'sb_');
}

export function buildOfSandbox(sandboxId: string): string {
  return sandboxId.replace('sb_', 'build_');
}

/** Id of a secret that sandboxes use. */
export function newSecretId(): string {
  return `se_${randomText(16)}`;
}

export function newWebhookId(): string {
  return `hook_${randomText(16)}`;
}

/** Id of an event on its way to a webhook. */
export function newDeliveryId(): string {
  return `msg_${randomText(24)}`;
}

export function newTokenId(): string {
  return `tok_${randomText(16)}`;
}

/** Id of an authorization at the code-hosting provider, granted or pending. */
export function newAuthorizationId(): string {
  return `auth_${randomText(16)}`;
}

export function newContextId(): string {
  return `context_${randomText(16)}`;
}

export function newSessionId(): string {
  return `session_${randomText(16)}`;
}

/** Id of a session command. */
export function newCommandId(): string {
  return `cmd_${randomText(16)}`;
}

/** Id of one process among those that serve an installation together. */
export function newReplicaId(): string {
  return `rep_${randomText(16)}`;
}

/** Callers are known by the id of their key, or of their sign-in. */
export function isSignInId(id: string): boolean {
  return signInIdPattern.test(id);
}

/** Id of a grant, by which callers are known whose token was issued under it. */
export function newGrantId(): string {
  return `grant_${randomText(16)}`;
}

export function isGrantId(id: string): boolean {
  return /^grant_[0-9a-z]{16}$/.test(id);
}

/** Id of an OAuth client that registers itself: public, and over 120 bits all the same. */
export function newClientId(): string {
  return `client_${randomText(24)}`;
}

/** Id of a browser's sign-in. */
export function newSignInId(): string {
  return `sgn_${randomText(16)}`;
}

export function newPasskeyId(): string {
  return `passkey_${randomText(16)}`;
}

export function newUserId(): string {
  return `user_${randomText(16)}`;
}

const teamIdPattern = /^team_[0-9a-z]{16}$/;

/** Owners are users and teams, told apart by their ids. */
export function isTeamId(id: string): boolean {
  return teamIdPattern.test(id);
}

export function newTeamId(): string {
  return `team_${randomText(16)}`;
}

export function newRequestId(): string {
  return `req_${randomText(16)}`;
}

/** 43 characters of [0-9a-z] after the prefix: over 220 bits. */
export function newApiKey(): string {
  return `shv_${randomText(43)}`;
}

/** Token of a sign-in, or of a one-time link: over 220 bits. */
export function newSignInToken(): string {
  return randomText(43);
}

export function randomText(length: number): string {
  let text = '';
  for (let i = 0; i < length; i++) text += ALPHABET[randomInt(ALPHABET.length)];
  return text;
}
