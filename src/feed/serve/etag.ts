import { createHash } from 'node:crypto';
import { type DocumentVariant, nameOf } from '../document.ts';

/**
 * A strong entity tag, quoted: equal for equal bytes on every replica and after a restart, different for every format, family,
 * action and coding (SPEC D5.10). `content` names the identity bytes; `coding` all that turns them into the bytes sent.
 */
export function entityTag(content: string, variant: DocumentVariant, coding: string): string {
  const { format, family, action } = nameOf(variant);
  const parts = [content, format, family, action, coding];
  return `"${createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 27)}"`;
}
