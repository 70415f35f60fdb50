/** Decodes letters, digits and `-._~`, whose escapes are equivalent (RFC 3986, 6.2.2.2). */
export const plainTarget = (url: string): string => (url.includes('%') ? url.replace(UNRESERVED, decodeURIComponent) : url);
/** Not after a truncated escape: a malformed target stays malformed. */
const UNRESERVED = /(?<!%[\da-f]?)%(?:2[de]|3\d|4[1-9a-f]|5[\da]|5f|6[1-9a-f]|7[\dae])/gi;

/** A proxy may send an absolute URL. */
export function pathOf(url: string): string {
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '');
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}
