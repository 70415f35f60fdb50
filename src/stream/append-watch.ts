import type { Log } from '../ports/log.ts';
import type { Draft, Stream } from '../ports/stream.ts';
import { shared } from '../serial.ts';

/** Time that an outcome is current, ms; also the shortest interval between probes. */
const COUNTS = 5000;

/** The appends of this process. */
export interface AppendWatch {
  draft(): Draft;
  /**
   * Rejects with the reason if the stream does not answer or the last append failed. After five seconds without an outcome a probe starts,
   * whose outcome counts for the next check.
   */
  check(): Promise<void>;
}

/** Logs when the stream starts and stops refusing appends. `monotonic`: ms. */
export function watchAppends(stream: Pick<Stream, 'draft' | 'ping' | 'probe'>, monotonic: () => number, log: Log = () => {}): AppendWatch {
  let last = { at: Number.NEGATIVE_INFINITY, fault: undefined as Error | undefined };
  const note = (fault?: Error) => {
    if (fault !== undefined && last.fault === undefined) log('error', `the stream refuses messages: ${fault.message}`);
    if (fault === undefined && last.fault !== undefined) log('info', 'the stream accepts messages again');
    last = { at: monotonic(), fault };
  };

  const isOld = () => monotonic() - last.at >= COUNTS;

  const probing = shared<void>();
  /** One probe for all callers. An append that ends meanwhile takes precedence. */
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
        // Answer from the last known state: the probe may take as long as the stream does.
        if (isOld()) void probe();
        throw last.fault;
      }
      await stream.ping();
      if (isOld()) await probe();
      if (last.fault !== undefined) throw last.fault;
    },
  };
}
