import { createHmac } from 'node:crypto';

/** An event as it is sent. */
export interface AnnouncedEvent {
  readonly messageId: string;
  readonly type: string;
  readonly occurredAt: Date;
  readonly data: Readonly<Record<string, unknown>>;
}

/** The body and the headers of a delivery. */
export interface SignedMessage {
  readonly body: string;
  readonly headers: Readonly<Record<string, string>>;
}

const secretPrefix = 'whsec_';

/** The text of a secret, `whsec_` and its bytes in base64, as receivers enter it. */
export function formatSecret(bytes: Uint8Array): string {
  return `${secretPrefix}${Buffer.from(bytes).toString('base64')}`;
}

/**
 * The message of an event, signed with each secret: HMAC-SHA256 of id, timestamp and body, joined by full stops, in the form of
 * Standard Webhooks 1.0. `at` is the instant of the attempt, by which a receiver refuses what is replayed by others.
 */
export function signMessage(event: AnnouncedEvent, secrets: readonly Uint8Array[], at: Date): SignedMessage {
  const body = JSON.stringify({ type: event.type, timestamp: event.occurredAt.toISOString(), data: event.data });
  const timestamp = String(Math.floor(at.getTime() / 1000));
  const signed = `${event.messageId}.${timestamp}.${body}`;
  const signatures = secrets.map((secret) => `v1,${createHmac('sha256', secret).update(signed).digest('base64')}`);
  return {
    body,
    headers: {
      'Content-Type': 'application/json',
      'webhook-id': event.messageId,
      'webhook-timestamp': timestamp,
      'webhook-signature': signatures.join(' '),
    },
  };
}
