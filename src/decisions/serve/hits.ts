/** Reads drops from a bouncer's usage metrics (SPEC D31.4). */
import { createHash } from 'node:crypto';
import type { HitWindow } from '../../ports/history.ts';
import { LISTS_ORIGIN } from '../decisions.ts';
import { isObject, type Sent } from './metrics.ts';

/** Limits per report: components, windows per component, lists per window. Drops beyond these count for no list, or not at all. */
const COMPONENTS = 10;
const WINDOWS = 20;
const LISTS = 500;
/** The largest plausible count. */
const MOST = 1e12;

const objectsOf = (value: unknown, most = Number.POSITIVE_INFINITY): Sent[] =>
  Array.isArray(value) ? value.slice(0, most).filter(isObject) : [];

/** Windows with drops; `keyId` sent the report. */
export function hitWindows(report: Sent, keyId: string): HitWindow[] {
  return objectsOf(report.remediation_components, COMPONENTS).flatMap(({ metrics, type, name, utc_startup_timestamp: started }) =>
    objectsOf(metrics, WINDOWS).flatMap((window) => {
      const hits = hitsIn(window.items);
      if (hits.length === 0) return [];
      // Without a timestamp, a repeated report looks like new drops.
      const at = isObject(window.meta) ? window.meta.utc_now_timestamp : undefined;
      const from = [type, name, started].map((value) => (typeof value === 'object' ? null : value));
      return [{ digest: typeof at === 'number' ? digestOf([keyId, from, at, hits]) : null, hits }];
    }),
  );
}

const digestOf = (value: unknown): string => createHash('sha256').update(JSON.stringify(value)).digest('base64url').slice(0, 22);

/** By name; null: an unknown list. */
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
