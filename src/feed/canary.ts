/** Two contents of one feed: canary keys have the current one, others the frozen one (SPEC D65). */
import { isoTime } from '../clock.ts';
import type { Canary } from '../ports/snapshot.ts';

/** Prefix of the feed id, and of the format in records, of the content for canaries. */
export const CANARY = '~';

export const canaryId = (feedId: string | null): string => `${CANARY}${feedId ?? ''}`;
export const isCanaryId = (id: string | null): boolean => id?.startsWith(CANARY) ?? false;
/** null: the workspace's feed. */
export const plainId = (id: string | null): string | null => (isCanaryId(id) ? id!.slice(CANARY.length) || null : id);

/** The header X-Feed-Canary. */
export const canaryText = (what: 'receives' | 'waits', { until }: Pick<Canary, 'until'>): string =>
  `${what}; ${until === null ? 'stopped' : `until=${isoTime(until)}`}`;
