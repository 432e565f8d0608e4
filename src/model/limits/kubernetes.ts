/** Bounds of sandboxes that are Pods of a Kubernetes, and of the service's requests to its API. */
import { KiB, MiB } from './units.ts';

export const kubernetesLimits = {
  kubernetes: {
    /** Timeout of one request to the API, its answer included; a watch goes on. */
    requestMs: 15_000,
    /** Body of one answer, and of one event of a watch. */
    answerBytes: 32 * MiB,
    eventBytes: 4 * MiB,
    /** Requests at once; watches have connections of their own. */
    connections: 32,
    /** Objects of one page of a list. */
    page: 250,
    /** Length of one watch, after which the server ends it; the next goes on where it ended. */
    watchSeconds: 300,
    /** Pause after a failed list or watch: the first, which doubles, and the longest. */
    retryMs: { first: 100, longest: 10_000 },
    /** Time without a watch after which what it showed is no answer any more. */
    staleMs: 30_000,
    /** Attempts of a creation that others' changes of a quota have refused, and the first pause, which grows by itself. */
    quotaConflicts: { attempts: 5, pauseMs: 50 },
    /** Pause before an object is asked for again that the API server still has and the copy does not. */
    askAgainMs: 250,
    /** A start, with the pull of its image. */
    startMs: 10 * 60_000,
    /** Time for which an agent whose container runs may not answer before a start fails. */
    answerMs: 30_000,
    /** Time for which the scheduler may find no node before a start fails: an object may be younger than its look. */
    unschedulableMs: 10_000,
    /** The same for a claim that the scheduler does not see yet, after an outage of the API server. */
    schedulerBehindMs: 30_000,
    /** The same for a volume that cannot be mounted, and the interval of looking for such events. */
    mountMs: 45_000,
    eventIntervalMs: 5_000,
    /** Time that the scheduler has to look at a new Pod; its watches return up to a minute after outages. */
    schedulerSilentMs: 45_000,
    /** Time until a Pod that was deleted is gone, after its grace period; less where its node does not answer. */
    goneMs: 60_000,
    goneUnreachableMs: 5_000,
    /** Time for removing what a failed start has left. */
    cleanUpMs: 20_000,
    /** Time until a new size holds in a running Pod. */
    resizeMs: 30_000,
    /** Time until a claim has its new size. */
    growMs: 5 * 60_000,
    /** Time until a restored disk has all of its content for good, once the last byte was sent. */
    diskSyncMs: 10 * 60_000,
    carrier: {
      /** vCPU and GiB of the Pod that packs a disk; one that makes a disk has the sandbox's own sizes where they are larger. */
      size: { cpu: 1, memory: 1, disk: 0, gpu: 0 },
      /** The content of a disk, as a tar archive, for each byte of the disk: every file has a header. */
      contentPerDisk: 2,
    },
    /** Text of another program's reason in an error. */
    reasonChars: 300,
    /** Answer about memory in use that is not asked for again where the cluster has no metrics. */
    noMetricsMs: 60_000,
    /** A value without a bound of its own: the storage class decides. 1 PiB. */
    unboundedDiskBytes: 2 ** 50,
    /** A token file, a kubeconfig. */
    fileBytes: 256 * KiB,
    /** Age after which a token file is read again: the kubelet replaces it. */
    tokenMs: 30_000,
  },
  nodeLoss: {
    /** Silence of a node after which its sandboxes are in error. */
    afterSeconds: { min: 10, max: 86_400, default: 60 },
    lookMs: 5_000,
    /** Looks until all rows are searched for those that another process has put in error. */
    looksUntilSearch: 12,
    /** Looks until a start that failed is tried again. */
    looksUntilRetry: 12,
    /** Sandboxes that one replica settles, or starts again, at once. */
    atOnce: 16,
  },
} as const;
