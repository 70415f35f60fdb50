/** Faults planted in the code that the simulation runs: each has to be found, else the simulation proves little. */
import { registerHooks } from 'node:module';

export interface Mutation {
  /** Whose simulation has to find it. */
  readonly in: 'feeds' | 'landing' | 'lease';
  /** Below `src/`. */
  readonly file: string;
  /** Occurs once in it. */
  readonly from: string;
  readonly to: string;
}

export const MUTATIONS: Readonly<Record<string, Mutation>> = {
  'what has expired is served': {
    in: 'feeds',
    file: 'feed/serve/variant-state.ts',
    from: 'monotonic < state.freshUntil && wall < state.nextExpiry * 1000',
    to: 'monotonic < state.freshUntil',
  },
  'of two builds beside each other the later one hides what expires': {
    in: 'feeds',
    file: 'feed/index/active-rules.ts',
    from: 'Math.min(this.tables.renewalsAskedThrough, this.asOf)',
    to: 'this.tables.renewalsAskedThrough',
  },
  'what has expired is served while the store is away': {
    in: 'feeds',
    file: 'feed/serve/served-document.ts',
    from: 'if (current !== undefined && isServable(current, this.#context.now().wall)) return current.outcome;',
    to: 'if (current !== undefined) return current.outcome;',
  },
  'without a record a content begins now': {
    in: 'feeds',
    file: 'feed/serve/last-modified.ts',
    from: 'dated(Math.max(Math.min(Math.floor(readAt / 1000), second), previous), { sharesInstant: true, isPublished: false })',
    to: 'dated(Math.max(second, earliest))',
  },
  'dates go back': {
    in: 'feeds',
    file: 'feed/serve/last-modified.ts',
    from: 'dated(Math.max(older, previous), { sharesInstant: true })',
    to: 'dated(older, { sharesInstant: true })',
  },
  'a snapshot is confirmed by any read': {
    in: 'feeds',
    file: 'feed/serve/reads.ts',
    from: 'hasSeen(known, read) && read.revision === known.revision &&',
    to: '',
  },
  'a landing that was refused counts': {
    in: 'landing',
    file: 'stream/partition.ts',
    from: "if (result === 'fenced') return 'fenced';",
    to: '',
  },
  'of several messages the last is passed over': {
    in: 'landing',
    file: 'stream/partition.ts',
    from: 'piece[consumed - 1].offset + 1;',
    to: 'piece[consumed - 1].offset + (consumed > 3 ? 2 : 1);',
  },
  'landing begins at the oldest message': {
    in: 'landing',
    file: 'stream/partition.ts',
    from: 'next: from ?? bounds.start',
    to: 'next: bounds.start',
  },
  'a replaced stream is read on': {
    in: 'landing',
    file: 'stream/consumer.ts',
    from: 'if (present !== streamId) throw replacedStream(streamId, present);',
    to: '',
  },
  'any stream is landed on': {
    in: 'landing',
    file: 'stream/consumer.ts',
    from: 'if (known.length > 0 && !known.includes(streamId))',
    to: 'if (false)',
  },
  'who has lost a partition tells what waits on it': {
    in: 'landing',
    file: 'stream/consumer.ts',
    from: 'running.delete(partition);\n              // The new owner reports its lag.\n              oldest.delete(partition);',
    to: 'running.delete(partition);',
  },
  'after a fault nothing is tried again': {
    in: 'landing',
    file: 'stream/retry.ts',
    from: 'await pause(halted ? BACKOFF.longest : wait, clock, stop);',
    to: 'return;',
  },
  'a lease lasts until its holder says otherwise': {
    in: 'lease',
    file: 'runtime/sources/lease.ts',
    from: 'if (at - claimedAt < LEASE / 3) return lease;',
    to: 'if (lease !== undefined || at - claimedAt < LEASE / 3) return lease;',
  },
  'an answer that comes too late counts': {
    in: 'lease',
    file: 'runtime/sources/lease.ts',
    from: ' || monotonic() - at >= LEASE',
    to: '',
  },
  'the time of a claim is that of its answer': {
    in: 'lease',
    file: 'runtime/sources/lease.ts',
    from: 'claimedAt = at;',
    to: 'claimedAt = monotonic();',
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
