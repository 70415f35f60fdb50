const FORM = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** undefined if invalid. Drops extensions of later versions after the flags. */
export function readTraceparent(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  const known = text.startsWith('00-') ? text : text.replace(/^(.{55})-.*$/s, '$1');
  return FORM.test(known) ? known : undefined;
}
