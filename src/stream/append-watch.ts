import type { Log } from '../ports/log.ts';
import type { Draft, Stream } from '../ports/stream.ts';
import { shared } from '../serial.ts';

/** How long the outcome of an append counts before a probe is made, ms; so at most one probe in this time. */
const COUNTS = 5000;

/** The appends of this process, and whether they go well. */
export interface AppendWatch {
  /** A draft of the stream whose outcome counts. */
  draft(): Draft;
  /**
   * Rejects with the reason when the stream does not answer, or the last append failed. An append that goes well makes it resolve
   * again; while there is none, a probe does, which the first check begins that is made five seconds after the last outcome.
   */
  check(): Promise<void>;
}

/** Watches the appends to a stream, and logs when it begins and ceases to refuse them. `monotonic`: ms. */
export function watchAppends(stream: Pick<Stream, 'draft' | 'ping' | 'probe'>, monotonic: () => number, log: Log = () => {}): AppendWatch {
  let last = { at: Number.NEGATIVE_INFINITY, fault: undefined as Error | undefined };
  const note = (fault?: Error) => {
    if (fault !== undefined && last.fault === undefined) log('error', `the stream refuses messages: ${fault.message}`);
    if (fault === undefined && last.fault !== undefined) log('info', 'the stream takes messages again');
    last = { at: monotonic(), fault };
  };

  const isOld = () => monotonic() - last.at >= COUNTS;

  const probing = shared<void>();
  /** Probes once for all who ask. An append that ends meanwhile tells more than the probe. */
  function probe(): Promise<void> {
    const before = last;
    const noteUnlessAppended = (fault?: Error) => {
      if (last === before) note(fault);
    };
    return probing(() => stream.probe().then(() => noteUnlessAppended(), noteUnlessAppended));
  }

  return {
    draft() {
      const draft = stream.draft();
      return {
        get length() {
          return draft.length;
        },
        push: draft.push,
        discard: draft.discard,
        async publish() {
          try {
            await draft.publish();
          } catch (error) {
            note(error as Error);
            throw error;
          }
          if (draft.length > 0) note();
        },
      };
    },
    async check() {
      if (last.fault !== undefined) {
        // What is known is told at once; the probe may take as long as the stream does.
        if (isOld()) void probe();
        throw last.fault;
      }
      await stream.ping();
      if (isOld()) await probe();
      if (last.fault !== undefined) throw last.fault;
    },
  };
}
