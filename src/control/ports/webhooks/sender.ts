/** Sends one request to a receiver. It decides about the address that it connects to, and follows no redirect. */

export type Answer =
  | { status: number; retryAfter: string | null }
  /** All that a member learns of an attempt without an answer, so that none is a look into the operator's network. */
  | { error: 'refused' | 'no answer' | 'the certificate is not trusted' };

export interface WebhookSender {
  /** Resolves within `limits.webhooks.attemptMs`, and never rejects. */
  send(request: {
    url: string;
    headers: Record<string, string>;
    body: string;
    /** Takes a share of the lookups of names. */
    owner: string;
    signal: AbortSignal;
  }): Promise<Answer>;
}
