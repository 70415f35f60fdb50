/** The stored metrics (SPEC D14.12): the fields that `weir bouncer ls` displays. */
import { parsedJson } from '../../json/json.ts';
import type { FeedCheck } from '../decisions.ts';

/** Limits per report, items per component, labels per item, characters per text. */
const COMPONENTS = 2;
const ITEMS = 20;
const LABELS = 4;
const LONGEST = 60;
/** Characters in total. */
const MOST = 4096;

/** A JSON object as received. */
export type Sent = Readonly<Record<string, unknown>>;

export const isObject = (value: unknown): value is Sent => typeof value === 'object' && value !== null && !Array.isArray(value);
const objectsOf = (value: unknown): Sent[] => (Array.isArray(value) ? value.slice(0, 100).filter(isObject) : []);
const textOf = (value: unknown): string | undefined => (typeof value === 'string' ? value.slice(0, LONGEST) : undefined);
const numberOf = (value: unknown): number | undefined => (typeof value === 'number' ? value : undefined);

function labelsOf(value: unknown): Record<string, string> | undefined {
  if (!isObject(value)) return undefined;
  const labels: Record<string, string> = {};
  let count = 0;
  for (const name in value) {
    const text = textOf(value[name]);
    if (text !== undefined) labels[name.slice(0, LONGEST)] = text;
    count += 1;
    if (count === LABELS) break;
  }
  return labels;
}

const itemOf = ({ name, value, unit, labels }: Sent) => ({
  name: textOf(name),
  value: numberOf(value),
  unit: textOf(unit),
  labels: labelsOf(labels),
});

/** The last window of a component. */
function metricsOf(value: unknown) {
  const last = Array.isArray(value) ? value.at(-1) : undefined;
  if (!isObject(last)) return [];
  const meta = isObject(last.meta) ? last.meta : {};
  return [
    {
      meta: { window_size_seconds: numberOf(meta.window_size_seconds), utc_now_timestamp: numberOf(meta.utc_now_timestamp) },
      items: objectsOf(last.items).slice(0, ITEMS).map(itemOf),
    },
  ];
}

const componentOf = ({ type, name, version, os, utc_startup_timestamp, metrics }: Sent) => ({
  type: textOf(type),
  name: textOf(name),
  version: textOf(version),
  os: isObject(os) ? { name: textOf(os.name), version: textOf(os.version) } : undefined,
  utc_startup_timestamp: numberOf(utc_startup_timestamp),
  metrics: metricsOf(metrics),
});

/** undefined: not a JSON object. */
export function usageReport(body: Buffer): Sent | undefined {
  const value = parsedJson(body.toString());
  return isObject(value) ? value : undefined;
}

/** At most 4,096 characters, in the original structure. */
export function storedMetrics(value: Sent): string {
  const components = objectsOf(value.remediation_components).slice(0, COMPONENTS).map(componentOf);
  for (;;) {
    const text = JSON.stringify({ remediation_components: components });
    if (text.length <= MOST) return text;
    const longest = components.flatMap(({ metrics }) => metrics).sort((a, b) => b.items.length - a.items.length)[0];
    if (longest === undefined || longest.items.length === 0) components.pop();
    else longest.items.length = Math.floor(longest.items.length / 2);
  }
}

/** SPEC D50.6. null: none reported; a text: what is wrong. */
export function enforcedIn({ enforced }: Sent): FeedCheck | null | string {
  if (enforced == null) return null;
  if (!isObject(enforced)) return 'enforced must be an object';
  const { version, count, digest } = enforced;
  if (typeof version !== 'string' || version.length > 128) return 'enforced.version must be a text of 128 characters at most';
  if (!Number.isSafeInteger(count) || (count as number) < 0) return 'enforced.count must be a number of networks';
  if (typeof digest !== 'string' || !/^[\da-f]{64}$/i.test(digest)) return 'enforced.digest must be a SHA-256 of 64 hexadecimal digits';
  return { version, count: count as number, digest: digest.toLowerCase() };
}
