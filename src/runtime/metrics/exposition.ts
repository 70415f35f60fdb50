/** The text format that Prometheus reads. */
import type { Histogram } from '../../histogram.ts';

/** One line: what is appended to the metric's name, the labels as they are written, the value. */
export interface Sample {
  readonly suffix?: string;
  readonly labels?: string;
  readonly value: number;
}

/** A metric and how its samples are read from `T`. */
export interface Metric<T> {
  readonly name: string;
  readonly type: 'counter' | 'gauge' | 'histogram';
  /** What it means, with its unit. */
  readonly help: string;
  readonly read: (from: T) => Iterable<Sample>;
}

/** The metrics as text; one without samples is left out. */
export function exposition<T>(metrics: readonly Metric<T>[], from: T): string {
  let text = '';
  for (const { name, type, help, read } of metrics) {
    let lines = '';
    const labelled = `${name}{`;
    for (const { suffix = '', labels = '', value } of read(from)) {
      if (labels === '') lines += `${name}${suffix} ${numberText(value)}\n`;
      else {
        // Each part is flat: thousands of these lines are copied into one text, and that is most of what a page costs.
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

/** Labels as they are written, such as `route="/healthz",status="200"`. */
export const labelsOf = (labels: Readonly<Record<string, string | number>>): string =>
  Object.entries(labels)
    .map(([name, value]) => `${name}="${String(value).replace(/["\\\n]/g, (character) => ESCAPES[character]!)}"`)
    .join(',');

/** The labels of what has this id: those that `write` makes, made once. */
export type RememberedLabels = (id: string, write: () => string) => string;

/** Remembers the labels of up to `most` ids. */
export function rememberedLabels(most: number): RememberedLabels {
  const known = new Map<string, string>();
  return (id, write) => {
    let labels = known.get(id);
    if (labels === undefined) {
      if (known.size >= most) known.clear();
      // Flat, as `exposition` wants it, not a tree of its parts.
      labels = Buffer.from(write()).toString();
      known.set(id, labels);
    }
    return labels;
  };
}

/** The samples of a histogram: how many values each bound has under it, and their sum and number. */
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
