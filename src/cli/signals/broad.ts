/** Sends broad networks of a plain list last, after the service has judged them (SPEC D44.5). */

import { before } from '../../clock.ts';
import { formatTarget } from '../../signal/target.ts';
import { isBroad } from '../../source/addresses.ts';
import type { PassedRow, PlacedEntry } from '../../source/readers/content.ts';
import type { LineFault } from '../../source/readers/items.ts';
import { plural } from '../../text/count.ts';
import { ask, SendFailure } from './post.ts';
import { type Destination, LINGER, type Sender } from './sender.ts';

type Item = PlacedEntry | LineFault | PassedRow;

/** Networks in a request. */
const MOST = 10_000;

/** Replaces broad networks that would be most of the list by faults. They wait for the other items, in a pipe for a second. */
export async function* withoutLargeNetworks(
  items: AsyncIterable<Item>,
  sender: Sender,
  destination: Destination & { readonly isPipe: boolean },
): AsyncGenerator<Item> {
  const source = items[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<Item>> | undefined;
  let broad: PlacedEntry[] = [];
  try {
    for (;;) {
      next ??= source.next();
      const found = destination.isPipe && broad.length > 0 ? await before(next, LINGER) : await next;
      const item = found?.done ? undefined : found?.value;
      if (found !== undefined) next = undefined;
      const isAside = item !== undefined && 'entry' in item && isBroad(item.entry);
      if (isAside) broad.push(item);
      // An unblock stays behind the blocks before it.
      const isDue = item === undefined || broad.length === MOST || ('entry' in item && item.entry.action === 'unblock');
      if (isDue && broad.length > 0) {
        yield* await judged(broad, sender, destination);
        broad = [];
      }
      if (found?.done) return;
      if (item !== undefined && !isAside) yield item;
    }
  } finally {
    await source.return?.();
  }
}

async function judged(broad: readonly PlacedEntry[], sender: Sender, { url, key, keepTrying, list }: Destination): Promise<Item[]> {
  const address = new URL(`${url.pathname.replace(/\/$/, '')}/v1/manage/addresses`, url);
  const batch = sender.batches[0];
  const items: Item[] = [];
  for (const [action, entries] of Map.groupBy(broad, ({ entry }) => entry.action)) {
    const networks = entries.map(({ entry }) => formatTarget(entry.target));
    const body = Buffer.from(JSON.stringify({ networks, list, action, batch })) as Uint8Array<ArrayBuffer>;
    try {
      const { faults } = (await ask({ url: address, key, keepTrying, onRetry: sender.say }, body)) as { faults: readonly string[] };
      if (faults.length === 0) items.push(...entries);
      else {
        items.push(...entries.map(({ place }, i) => ({ fault: `${networks[i]} is sent only with --yes`, place })));
        sender.say(`not sent: ${plural(entries.length, 'network')}, with which ${faults.join('; ')}; to send them, add --yes`);
      }
    } catch (error) {
      if (!(error instanceof SendFailure)) throw error;
      sender.say(`whether ${plural(entries.length, 'network')} would be most of the list is not known (${error.message})`);
      items.push(...entries);
    }
  }
  return items;
}
