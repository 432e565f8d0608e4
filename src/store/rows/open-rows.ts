/** All rows of the store on one database, which keeps to the secret key of its first opening. */
import type { Store } from '../../control/ports/index.ts';
import { SandhavenError } from '../../model/errors.ts';
import type { Secrets } from '../files/secrets.ts';
import { type Sql, statement } from '../sql/sql.ts';
import { AccessTokenRows } from './access-tokens.ts';
import { KeyRows } from './api-keys.ts';
import { AuditRows } from './audit.ts';
import { AuthorizationRows } from './authorizations.ts';
import { BuildStepRows } from './build-steps.ts';
import { GitCredentialRows, RegistryCredentialRows } from './credentials.ts';
import { DeviceSignInRows } from './device-sign-ins.ts';
import { EverybodysSandboxRows } from './everybodys-sandboxes.ts';
import { IdempotencyRows } from './idempotency.ts';
import { IdentityRows } from './identities.ts';
import { OAuthRows } from './oauth.ts';
import { OwnerNetworkRows } from './owner-networks.ts';
import { PendingAuthorizationRows } from './pending-authorizations.ts';
import { SandboxRows } from './sandbox-rows.ts';
import { SecretRows, ServiceSecretRows } from './secrets.ts';
import { SessionRows } from './sessions.ts';
import { SignInRows } from './sign-ins.ts';
import { SnapshotRows } from './snapshots.ts';
import { TeamRows } from './teams.ts';
import { UserDeletionRows } from './user-deletions.ts';
import { UserRows } from './users.ts';
import { PasskeyRows, PasswordRows } from './ways-in.ts';
import { WebhookRows } from './webhooks.ts';

/** Rejects a database of another secret key with `failed_precondition`. The caller closes `sql` then. */
export async function openRows(sql: Sql, secrets: Secrets): Promise<Omit<Store, 'replicas'>> {
  await pairWithKey(sql, secrets.keyId);
  return {
    sandboxes: new SandboxRows(sql, secrets),
    everybody: new EverybodysSandboxRows(sql, secrets),
    snapshots: new SnapshotRows(sql),
    users: new UserRows(sql),
    userDeletions: new UserDeletionRows(sql),
    teams: new TeamRows(sql),
    ownerNetworks: new OwnerNetworkRows(sql),
    keys: new KeyRows(sql),
    signIns: new SignInRows(sql),
    deviceSignIns: new DeviceSignInRows(sql),
    passkeys: new PasskeyRows(sql),
    passwords: new PasswordRows(sql, secrets),
    identities: new IdentityRows(sql),
    oauth: new OAuthRows(sql, secrets),
    idempotency: new IdempotencyRows(sql, secrets),
    accessTokens: new AccessTokenRows(sql),
    gitCredentials: new GitCredentialRows(sql, secrets),
    sessions: new SessionRows(sql),
    audit: new AuditRows(sql),
    registryCredentials: new RegistryCredentialRows(sql, secrets),
    buildSteps: new BuildStepRows(sql),
    secrets: new SecretRows(sql, secrets),
    serviceSecrets: new ServiceSecretRows(sql, secrets),
    authorizations: new AuthorizationRows(sql, secrets),
    pendingAuthorizations: new PendingAuthorizationRows(sql, secrets),
    webhooks: new WebhookRows(sql, secrets),
    close: () => sql.close(),
  };
}

const pair = statement(
  `INSERT INTO installation (only_row, secret_key_id) VALUES (1, :key_id) ON CONFLICT (only_row) DO NOTHING`,
);
const paired = statement('SELECT secret_key_id FROM installation');

/** Binds a database to the secret key of its first opening: another key would leave it half unreadable. */
async function pairWithKey(sql: Sql, keyId: string): Promise<void> {
  const stored = await sql.write('installation', function* () {
    yield* pair.run({ key_id: keyId });
    return (yield* paired.get())?.['secret_key_id'];
  });
  if (stored === keyId) return;
  throw new SandhavenError(
    'failed_precondition',
    'The secret key is not the one that this database was written with.',
    { hint: 'Put back the secret.key file, or the credential, that belongs to this data directory.' },
  );
}
