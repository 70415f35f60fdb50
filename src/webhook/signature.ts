/** SPEC D27.5. */
import { createHmac } from 'node:crypto';

/** Value `t=SECONDS,v1=HMAC`: hexadecimal HMAC-SHA-256 of seconds, a dot and the body. */
export const SIGNATURE = 'x-weir-signature';

/** `now`: ms since 1970. */
export function signatureOf(secret: string, body: string, now: number): string {
  const seconds = Math.floor(now / 1000);
  return `t=${seconds},v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
}
