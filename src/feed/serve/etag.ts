import { createHash } from 'node:crypto';
import { type DocumentVariant, nameOf } from '../document.ts';

/**
 * A quoted strong entity tag: equal for equal bytes on all replicas and after restarts, different per format, family, action and coding
 * (SPEC D5.10). `content` names the identity bytes; `coding` their transformation.
 */
export function entityTag(content: string, variant: DocumentVariant, coding: string): string {
  const { format, family, action } = nameOf(variant);
  const parts = [content, format, family, action, coding];
  return `"${createHash('sha256').update(parts.join('\n')).digest('base64url').slice(0, 27)}"`;
}
