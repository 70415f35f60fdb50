/** Request targets: what stands behind the method of a request. */

/** A request target with letters, digits and `-._~` unescaped: escaped they mean the same (RFC 3986, 6.2.2.2). */
export const plainTarget = (url: string): string => (url.includes('%') ? url.replace(UNRESERVED, decodeURIComponent) : url);
/** Not behind an escape that is cut off: what is malformed stays so. */
const UNRESERVED = /(?<!%[\da-f]?)%(?:2[de]|3\d|4[1-9a-f]|5[\da]|5f|6[1-9a-f]|7[\dae])/gi;

/** The path of a request target; a proxy may have sent a whole URL. */
export function pathOf(url: string): string {
  const target = url.startsWith('/') ? url : url.replace(/^https?:\/\/[^/?]*/i, '');
  const mark = target.indexOf('?');
  return mark < 0 ? target : target.slice(0, mark);
}
