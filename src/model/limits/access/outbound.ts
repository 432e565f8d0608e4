/** Bounds of the connections that the service opens by names: of members, of strangers, and of its operator. */

export const outboundLimits = {
  outbound: {
    /** Entries of --git-allow, and of --webhook-allow. */
    allowedHosts: 256,
    /** Names of others that are being looked up; an owner is a user, a team, or a stranger's network. */
    lookups: { total: 128, perOwner: 4, waiting: 64, waitMs: 10_000 },
    /** One lookup of such a name; one question of it to one name server, and rounds through all of these. */
    lookupMs: 5_000,
    questionMs: 2_000,
    rounds: 2,
    /** Wait for the system's lookup of a name that the operator gave: it asks a second name server after 5 s. */
    operatorLookupMs: 12_000,
  },
} as const;
