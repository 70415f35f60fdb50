/** Waits for workspaces with messages that may not have landed (SPEC D5.13). */
import type { StoreReads } from '../ports/store.ts';
import type { Message, Stream } from '../ports/stream.ts';
import { caughtUp, sharedPositions } from './lag.ts';

/** For a workspace that has appended nothing through this process, ms: another one may have accepted its signals. */
const OTHERS = 25;

/** By workspace that appends through this process. */
export function notedAppends(stream: Stream, store: Pick<StoreReads, 'position'>) {
  /** Last appends that may not have landed, as an increasing number. */
  const last = new Map<string, number>();
  let count = 0;
  /** The stream's end once since the process started: all earlier messages have landed then. */
  let hasReached = false;
  const positions = sharedPositions(store);
  const note = (keys: Iterable<string>) => {
    count += 1;
    for (const key of keys) last.set(key, count);
  };
  return {
    /** Messages are recorded by workspace. */
    stream: {
      ...stream,
      async publish(messages) {
        await stream.publish(messages);
        note(keysOf(messages));
      },
      draft() {
        const draft = stream.draft();
        const keys = new Set<string>();
        return {
          get length() {
            return draft.length;
          },
          push(message) {
            keys.add(message.key);
            draft.push(message);
          },
          async publish() {
            await draft.publish();
            note(keys);
          },
          discard: () => draft.discard(),
        };
      },
    } satisfies Stream,
    /**
     * When the workspace's messages have landed, after 2 s at the latest. Once the stream's end was reached, other workspaces' messages
     * delay it by at most 25 ms.
     */
    async landed(workspaceId: string): Promise<void> {
      const own = last.get(workspaceId);
      const left = await caughtUp(stream, positions, own === undefined && hasReached ? OTHERS : undefined);
      hasReached ||= left === 0;
      if (left === 0 && last.get(workspaceId) === own) last.delete(workspaceId);
    },
    /** Resolves after 2 s at the latest, with the number of messages left. */
    untilLanded: () => caughtUp(stream, positions),
  };
}

const keysOf = (messages: readonly Message[]) => new Set(messages.map(({ key }) => key));
