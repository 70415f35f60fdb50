/** What `weir send` tells of targets that it puts on the never-block list: the block feeds that have them all the same (SPEC D10.18). */
import { formatTarget } from '../../signal/target.ts';
import type { PlacedEntry } from '../../source/readers/content.ts';
import { ask, SendFailure } from './post.ts';
import type { Destination, Sender } from './sender.ts';

/** Targets that are asked about at most. */
const MOST = 10;

/** The same entries; notes those for the never-block list, and says of the first of them which block feeds have them still. */
export function neverBlocked() {
  const noted = new Set<string>();
  return {
    async *noting<T extends object>(entries: AsyncIterable<T | PlacedEntry>): AsyncGenerator<T | PlacedEntry> {
      for await (const each of entries) {
        if ('entry' in each && each.entry.action === 'allow' && noted.size < MOST) noted.add(formatTarget(each.entry.target));
        yield each;
      }
    },
    async say(sender: Sender, { url, key, list }: Destination): Promise<void> {
      const address = new URL(`${url.pathname.replace(/\/$/, '')}/v1/manage/rules`, url);
      for (const value of noted) {
        const body = Buffer.from(JSON.stringify({ value, action: 'allow', list, preview: true })) as Uint8Array<ArrayBuffer>;
        try {
          const told = (await ask({ url: address, key, keepTrying: false, onRetry: () => undefined }, body)) as Told;
          for (const { name, step } of told.still_blocked ?? [])
            sender.say(`${value} is in the block feed "${name}" all the same; what takes it out: ${step}`);
        } catch (error) {
          if (!(error instanceof SendFailure)) throw error;
          return sender.say(`whether block feeds have ${value} all the same is not known: weir lookup ${value} tells (${error.message})`);
        }
      }
    },
  };
}

interface Told {
  readonly still_blocked?: readonly { readonly name: string; readonly step: string }[] | null;
}
