/** Faults planted in the code that the simulation runs: each has to be found, else the simulation proves little. */
import { registerHooks } from 'node:module';

interface Mutation {
  /** Below `src/`. */
  readonly file: string;
  /** Occurs once in it. */
  readonly from: string;
  readonly to: string;
}

export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'what has expired is served': {
    file: 'document/serve/variant-state.ts',
    from: 'monotonic < state.freshUntil && wall < state.lapsesAt * 1000',
    to: 'monotonic < state.freshUntil',
  },
  'of two builds beside each other the later one hides what expires': {
    file: 'document/held/active-rules.ts',
    from: 'Math.min(this.tables.renewalsAskedThrough, this.asOf)',
    to: 'this.tables.renewalsAskedThrough',
  },
  'what has expired is served while the store is away': {
    file: 'document/serve/served-document.ts',
    from: 'if (current !== undefined && isServable(current, this.#context.now().wall)) return current.outcome;',
    to: 'if (current !== undefined) return current.outcome;',
  },
  'without a record a content begins now': {
    file: 'document/serve/last-modified.ts',
    from: 'dated(known, before === undefined || isOther ? { sharesInstant: true } : {})',
    to: 'dated(Math.max(second, earliest))',
  },
  'dates go back': {
    file: 'document/serve/last-modified.ts',
    from: 'dated(Math.max(older, shown))',
    to: 'dated(older)',
  },
  'a snapshot is confirmed by any read': {
    file: 'document/serve/reads.ts',
    from: 'hasSeen(known, read) && read.revision === known.revision &&',
    to: '',
  },
};

/** Plants the fault when its file is loaded. Throws when its text is not there once. */
export function plant({ file, from, to }: Mutation): void {
  registerHooks({
    load(url, context, next) {
      const loaded = next(url, context);
      if (!url.endsWith(`/src/${file}`)) return loaded;
      const parts = String(loaded.source).split(from);
      if (parts.length !== 2) throw new Error(`the fault to plant in ${file} is there ${parts.length - 1} times: ${from}`);
      return { ...loaded, source: parts.join(to) };
    },
  });
}
