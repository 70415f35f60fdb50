import { createHash } from 'node:crypto';
import type { Variant } from '../variant.ts';

/**
 * A strong entity tag, quoted: equal for equal bytes on every replica and after a restart, different for every format, family,
 * action and coding (SPEC D5.10). `content` names the identity bytes; `coding` all that turns them into the bytes sent.
 */
export function entityTag(content: string, variant: Variant, coding: string): string {
  const parts = [content, variant.format, variant.family, variant.action, coding];
  return `"${createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 27)}"`;
}
