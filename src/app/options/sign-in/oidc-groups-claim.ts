/** Claim that holds the groups of a person. */
import { flag } from '../flag.ts';

export const oidcGroupsClaim = flag({
  name: 'oidc-groups-claim',
  default: 'groups',
  help: 'claim with the groups of a person',
  parse: (text) => text,
});
