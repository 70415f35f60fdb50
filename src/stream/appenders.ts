/** Who waits for landing: those who have put something on the stream that may not have landed (SPEC D5.13). */
import type { StoreReads } from '../ports/store.ts';
import type { Message, Stream } from '../ports/stream.ts';
import { caughtUp, sharedPositions } from './lag.ts';

/** How long somebody waits who has put nothing on the stream by this process, ms: another process may have taken it. */
const OTHERS = 25;

/** Notes which workspaces append to a stream by this process, and waits until what is on it has landed. */
export function notedAppends(stream: Stream, store: Pick<StoreReads, 'position'>) {
  /** The last append of each workspace of which it is not known that it has landed, by a number that only grows. */
  const last = new Map<string, number>();
  let count = 0;
  /** Whether the stream's end has been reached since this process began: what it took before is known to have landed then. */
  let hasReached = false;
  const positions = sharedPositions(store);
  const note = (keys: Iterable<string>) => {
    count += 1;
    for (const key of keys) last.set(key, count);
  };
  return {
    /** The stream, whose messages are noted by their workspace. */
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
    /** Resolves when what the workspace has put on the stream has landed, at the latest after 2 s. Once the stream's end was reached, the messages of others hold it up for 25 ms. */
    async landed(workspaceId: string): Promise<void> {
      const own = last.get(workspaceId);
      const left = await caughtUp(stream, positions, own === undefined && hasReached ? OTHERS : undefined);
      hasReached ||= left === 0;
      if (left === 0 && last.get(workspaceId) === own) last.delete(workspaceId);
    },
    /** Resolves when all that is on the stream has landed, at the latest after 2 s, with how many messages are left. */
    untilLanded: () => caughtUp(stream, positions),
  };
}

const keysOf = (messages: readonly Message[]) => new Set(messages.map(({ key }) => key));
