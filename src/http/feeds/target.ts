/** Which feed a request target names. */

/** A feed's address as it was sent. */
export interface FeedTarget {
  /** The list's path segment, percent-encoded; null for the workspace's feed. */
  readonly list: string | null;
  /** The query without its question mark. */
  readonly query: string;
}

const FEED_PATH = '/v1/threat/feeds';

/** Reads a request target, such as `/v1/threat/feeds/edge?format=plain`; undefined for any other path. */
export function readFeedTarget(target: string): FeedTarget | undefined {
  if (!target.startsWith(FEED_PATH)) return undefined;
  const mark = target.indexOf('?', FEED_PATH.length);
  const path = mark < 0 ? target : target.slice(0, mark);
  const query = mark < 0 ? '' : target.slice(mark + 1);
  if (path.length === FEED_PATH.length) return { list: null, query };
  const list = path.slice(FEED_PATH.length + 1);
  return path[FEED_PATH.length] === '/' && list !== '' && !list.includes('/') ? { list, query } : undefined;
}

/** A path segment without its percent-encoding, null for null; undefined when the encoding is malformed. */
export function decodeSegment(segment: string | null): string | null | undefined {
  if (segment === null || !segment.includes('%')) return segment;
  try {
    return decodeURIComponent(segment);
  } catch {
    return undefined;
  }
}
