/** By what a receiver knows that a message is ours, and when it was sent (SPEC D27.5). */
import { createHmac } from 'node:crypto';

/** The header of a signature, `t=SECONDS,v1=HMAC`: HMAC-SHA-256 of the seconds, a dot and the body, in hexadecimal digits. */
export const SIGNATURE = 'x-weir-signature';

/** Its value; `now` in ms since 1970. */
export function signatureOf(secret: string, body: string, now: number): string {
  const seconds = Math.floor(now / 1000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}
