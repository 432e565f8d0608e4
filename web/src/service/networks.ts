/** Networks of sandboxes: settings and logs. */
import { client } from './client.ts';
import type { NetworkLog, NetworkProfile, ShownNetwork } from './records.ts';

const call = <Result>(action: string, parameters: object = {}) =>
  client.administration.call<Result>(action, parameters);

export const networks = {
  get: (sandbox: string) => call<ShownNetwork>('GetNetwork', { sandbox }),
  set: (sandbox: string, network: string | { profiles: string[]; allow: string[] }) =>
    call<ShownNetwork>('SetNetwork', { sandbox, network }),
  allow: (sandbox: string, rule: string) => call<ShownNetwork>('AllowNetwork', { sandbox, rules: [rule] }),
  profiles: async () => (await call<{ profiles: NetworkProfile[] }>('ListNetworkProfiles')).profiles,
  /** The newest. */
  log: (sandbox: string, refused: boolean, limit: number) =>
    call<NetworkLog>('GetNetworkLog', { sandbox, refused, limit }),
};
