import type { Stream } from '../ports/stream.ts';

/** How long the outcome of an append counts before a probe is made, ms; so at most one probe in this time. */
const COUNTS = 5000;

/** The appends of this process, and whether they go well. */
export interface AppendWatch {
  publish: Stream['publish'];
  /**
   * Rejects with the reason when the stream does not answer, or the last append failed. An append that goes well makes it resolve
   * again; while there is none, a probe does, five seconds after the last outcome at the earliest.
   */
  check(): Promise<void>;
}

/** Watches the appends to a stream. `monotonic`: ms. */
export function watchAppends(stream: Pick<Stream, 'publish' | 'ping' | 'probe'>, monotonic: () => number): AppendWatch {
  let last = { at: Number.NEGATIVE_INFINITY, fault: undefined as Error | undefined };
  const note = (fault?: Error) => {
    last = { at: monotonic(), fault };
  };

  return {
    async publish(messages) {
      try {
        await stream.publish(messages);
      } catch (error) {
        note(error as Error);
        throw error;
      }
      if (messages.length > 0) note();
    },
    async check() {
      await stream.ping();
      const before = last;
      if (monotonic() - before.at >= COUNTS) {
        const fault = await stream.probe().then(
          () => undefined,
          (error: Error) => error,
        );
        // An append that has ended meanwhile tells more.
        if (last === before) note(fault);
      }
      if (last.fault !== undefined) throw last.fault;
    },
  };
}
