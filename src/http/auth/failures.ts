import { formatNetwork } from '../../network/format.ts';
import { parseNetwork } from '../../network/parse.ts';

/** Failed authentications of one source in one second before it gets 429. */
const PER_SECOND = 20;

/** Counts failed authentications by address and second (decisions 2). */
export interface FailureLimiter {
  /** Counts one failure at `now` (ms, monotonic); true when the address has had more than 20 in this second. */
  count(address: string, now: number): boolean;
}

/** A limiter that has counted nothing yet. */
export function failureLimiter(): FailureLimiter {
  let second = 0;
  const counts = new Map<string, number>();
  return {
    count(address, now) {
      if (Math.floor(now / 1000) !== second) {
        second = Math.floor(now / 1000);
        counts.clear();
      }
      const source = sourceOf(address);
      const count = (counts.get(source) ?? 0) + 1;
      counts.set(source, count);
      return count > PER_SECOND;
    },
  };
}

/** What counts as one client: an IPv4 address, or an IPv6 /64. */
function sourceOf(address: string): string {
  const bare = address.replace(/%.*$/, '');
  const host = parseNetwork(bare);
  const network = typeof host === 'string' || host.family === 4 ? host : parseNetwork(`${bare}/64`);
  return typeof network === 'string' ? bare : formatNetwork(network);
}
