/** Bounds of OAuth: clients of MCP that people authorize. */
import { KiB } from '../units.ts';

const HOUR_MS = 60 * 60_000;
const DAY_MS = 24 * HOUR_MS;

export const oauthLimits = {
  /** Registered clients without a live grant: of one network, and of all. The oldest gives way. */
  clientsPerNetwork: 50,
  clientsTotal: 10_000,
  /** Time for which a client without a grant is kept after its registration, and after the end of its last grant. */
  unusedClientMs: DAY_MS,
  formerClientMs: 60 * DAY_MS,
  clientNameChars: 100,
  redirectUris: 10,
  redirectUriChars: 2_000,
  /** Id of a client that describes itself at its own address, which is the id. */
  clientIdChars: 1_000,
  registrationBytes: 16 * KiB,
  /** Document that describes a client at its own address. */
  documentBytes: 16 * KiB,
  documentMs: 2_500,
  /** Documents being fetched; an owner is the network that asks. */
  documentsAtOnce: { total: 16, perOwner: 4 },
  /** Seconds for which such a document is kept. */
  documentKeptSeconds: { min: 60, max: 24 * 60 * 60 },

  /** Grants of one user; a newer one replaces the one that was used longest ago. */
  grantsPerUser: 64,
  /** Time without a refresh after which a grant ends. */
  grantIdleMs: 30 * DAY_MS,
  /** Time in which a client has to fetch the tokens of a new grant. */
  unclaimedMs: 5 * 60_000,
  /** Time for which a refresh token is good after its first use: requests side by side. */
  refreshOverlapMs: 10_000,
  accessTokenSeconds: 15 * 60,
  codeSeconds: 60,
  /** Time that a person has for the decision. */
  consentSeconds: 15 * 60,
  /** Open authorization requests: of one network, and of all. The oldest gives way. */
  requestsPerNetwork: 100,
  requestsTotal: 10_000,
  /** Tokens of one grant, of each kind, used ones included; the oldest goes. */
  tokensPerGrant: 64,

  /** Interval of removing what is over. */
  pruneMs: HOUR_MS,

  /** A request to the authorization server, its URL and its whole duration. */
  requestMs: 15_000,
  urlChars: 8_000,
  /** Registrations, authorization requests, and requests for tokens, of one network. */
  registerRate: { perSecond: 0.1, burst: 20 },
  authorizeRate: { perSecond: 1, burst: 60 },
  tokenRate: { perSecond: 10, burst: 200 },
  /** Documents that a network may have fetched. */
  documentRate: { perSecond: 0.2, burst: 20 },
  /** Networks that are counted before idle ones are forgotten. */
  networks: 10_000,
  /** Addresses of this service with an authorization server of their own. */
  issuers: 16,
} as const;
