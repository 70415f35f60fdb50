import type { Histogram } from '../../histogram.ts';

/** A line: suffix of the name, serialized labels, value. */
export interface Sample {
  readonly suffix?: string;
  readonly labels?: string;
  readonly value: number;
}

export interface Metric<T> {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  readonly help: string;
  readonly read: (from: T) => Iterable<Sample>;
}

export function exposition<T>(metrics: readonly Metric<T>[], from: T): string {
  let text = '';
  for (const { name, type, help, read } of metrics) {
    let lines = '';
    const labelled = `${name}{`;
    for (const { suffix = '', labels = '', value } of read(from)) {
      if (labels === '') lines += `${name}${suffix} ${numberText(value)}\n`;
      else {
        lines += suffix === '' ? labelled : `${name}${suffix}{`;
        lines += labels;
        lines += `} ${numberText(value)}\n`;
      }
    }
    if (lines !== '') text += `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines}`;
  }
  return text;
}

const ESCAPES: Record<string, string> = { '\\': '\\\\', '"': '\\"', '\n': '\\n' };

/** Serialized, such as `route="/healthz",status="200"`. */
export const labelsOf = (labels: Readonly<Record<string, string | number>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${String(value).replace(/["\\\n]/g, (character) => ESCAPES[character]!)}"`)
    .join(',');

export type RememberedLabels = (id: string, write: () => string) => string;

export function rememberedLabels(most: number): RememberedLabels {
  const known = new Map<string, string>();
  return (id, write) => {
    let labels = known.get(id);
    if (labels === undefined) {
      if (known.size >= most) known.clear();
      // A flat string, see `exposition`.
      labels = Buffer.from(write()).toString();
      known.set(id, labels);
    }
    return labels;
  };
}

/** Cumulative buckets, sum and count. */
export function* histogramSamples({ bounds, counts, sum }: Histogram, labels = ''): Generator<Sample> {
  const before = labels === '' ? '' : `${labels},`;
  let below = 0;
  for (let bucket = 0; bucket < counts.length; bucket += 1) {
    below += counts[bucket]!;
    yield { suffix: '_bucket', labels: `${before}le="${bucket < bounds.length ? bounds[bucket] : '+Inf'}"`, value: below };
  }
  yield { suffix: '_sum', labels, value: sum };
  yield { suffix: '_count', labels, value: below };
}

function numberText(value: number): string {
  if (Number.isFinite(value)) return String(value);
  if (Number.isNaN(value)) return 'NaN';
  return value > 0 ? '+Inf' : '-Inf';
}
