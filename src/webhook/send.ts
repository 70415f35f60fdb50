/** One delivery attempt (SPEC D27.5, D27.6). Stores nothing. */
import { openSecret, type SecretKeys } from '../account/secrets/encrypted-secret.ts';
import { SERVICE_WEBHOOK, type WebhookMessage, type WebhookStyle } from '../account/webhook.ts';
import type { Post, Posted } from '../fetch/post.ts';
import { bodyOf, type MessageContext } from './message.ts';
import { SIGNATURE, signatureOf } from './signature.ts';

export interface Receiver {
  readonly id: string;
  readonly url: string;
  readonly style: WebhookStyle;
  /** Encrypted for id and address, or plain from the settings. */
  readonly secret: Uint8Array | string | null;
}

export interface Tried {
  readonly isDelivered: boolean;
  readonly status: number | null;
  readonly retryAfter: number | undefined;
  readonly ms: number;
  readonly text: string;
}

export interface SendPorts {
  readonly secretKeys: SecretKeys;
  /** `isOperators`: the address is from the settings and may be private. */
  post(request: Pick<Post, 'url' | 'body' | 'headers' | 'signal'> & { readonly isOperators: boolean }): Promise<Posted>;
  readonly now: () => number;
  readonly monotonic: () => number;
}

/** Never rejects. */
export async function sendMessage(
  { secretKeys, post, now, monotonic }: SendPorts,
  receiver: Receiver,
  message: WebhookMessage,
  context: MessageContext,
  signal: AbortSignal,
): Promise<Tried> {
  const { id, url, style, secret: stored } = receiver;
  const begun = monotonic();
  const failed = (text: string): Tried => ({ isDelivered: false, status: null, retryAfter: undefined, ms: ms(), text });
  const ms = () => Math.round(monotonic() - begun);
  const secret = stored === null || typeof stored === 'string' ? (stored ?? undefined) : openSecret(secretKeys, { id, url }, stored);
  if (stored !== null && secret === undefined) return failed('no key of SECRETS_KEY decrypts its secret: set it again');
  const body = bodyOf(style, message, context, secret);
  const headers = {
    'x-weir-id': message.id,
    ...(secret !== undefined && style !== 'pagerduty' && { [SIGNATURE]: signatureOf(secret, body, now()) }),
  };
  try {
    const { status, retryAfter, text } = await post({ url, body, headers, signal, isOperators: id === SERVICE_WEBHOOK });
    const isDelivered = status >= 200 && status < 300;
    return { isDelivered, status, retryAfter, ms: ms(), text: isDelivered ? '' : text };
  } catch (error) {
    return failed((error as Error).message);
  }
}
