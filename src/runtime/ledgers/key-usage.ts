import type { StoreWrites } from '../../ports/store.ts';
import { everyMinute } from '../../schedule/interval.ts';

/** Writes last-used times (ms) once a minute. Returns a stop function with a last write. */
export const startKeyUsage = (
  takeUsed: () => readonly { id: string; at: number }[],
  store: Pick<StoreWrites, 'touchKeys'>,
  onError: (error: Error) => void,
): (() => Promise<void>) =>
  everyMinute(async () => {
    const used = takeUsed();
    if (used.length > 0) await store.touchKeys(used).catch(onError);
  });
