/** What a bouncer has dropped, of its usage metrics (SPEC D31.4): by the lists that it was told of. */
import { createHash } from 'node:crypto';
import type { HitWindow } from '../../ports/history.ts';
import { LISTS_ORIGIN } from '../decisions.ts';
import { isObject, type Sent } from './metrics.ts';

/** Components of a report, windows of each, lists of one window. What is beyond is counted of no list, or not at all. */
const COMPONENTS = 10;
const WINDOWS = 20;
const LISTS = 500;
/** The largest count that is believed. */
const MOST = 1e12;

const objectsOf = (value: unknown, most = Number.POSITIVE_INFINITY): Sent[] =>
  Array.isArray(value) ? value.slice(0, most).filter(isObject) : [];

/** The windows of a report in which something was dropped; `keyId` is the key that it came with. */
export function hitWindows(report: Sent, keyId: string): HitWindow[] {
  return objectsOf(report.remediation_components, COMPONENTS).flatMap(({ metrics, type, name, utc_startup_timestamp: started }) =>
    objectsOf(metrics, WINDOWS).flatMap((window) => {
      const hits = hitsIn(window.items);
      if (hits.length === 0) return [];
      // Without a time, what comes again cannot be told from what happened again.
      const at = isObject(window.meta) ? window.meta.utc_now_timestamp : undefined;
      const from = [type, name, started].map((value) => (typeof value === 'object' ? null : value));
      return [{ digest: typeof at === 'number' ? digestOf([keyId, from, at, hits]) : null, hits }];
    }),
  );
}

const digestOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);

/** What was dropped, by the name of a list; null: of none that was told. */
function hitsIn(items: unknown): HitWindow['hits'] {
  const found = new Map<string | null, { packets: number; bytes: number }>();
  for (const { name, value, unit, labels } of objectsOf(items)) {
    if (name !== 'dropped' || typeof value !== 'number' || !(value > 0)) continue;
    const list = isObject(labels) ? listIn(labels.origin) : null;
    const place = found.has(list) || found.size < LISTS ? list : null;
    const known = found.get(place) ?? { packets: 0, bytes: 0 };
    known[unit === 'byte' ? 'bytes' : 'packets'] += Math.min(MOST, Math.round(value));
    found.set(place, known);
  }
  return [...found].map(([list, counts]) => ({ list, ...counts }));
}

const PREFIX = `${LISTS_ORIGIN}:`;

const listIn = (origin: unknown): string | null =>
  typeof origin === 'string' && origin.startsWith(PREFIX) ? origin.slice(PREFIX.length) : null;
