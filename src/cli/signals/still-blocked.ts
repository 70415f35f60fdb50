/** Reports block feeds that still contain unblocked or allowed targets (SPEC D10.18). */

import type { PlacedEntry } from '../../source/readers/content.ts';
import type { FileSignal } from '../../source/readers/items.ts';
import { distinctUnblocks, type Unblock, unblockOfEntry, unblockOfSignal } from '../../source/unblock.ts';
import { ask, SendFailure } from './post.ts';
import type { Destination, Sender } from './sender.ts';

/** Targets to check. */
const MOST = 10;

/**
 * Passes items through, and checks the first targets that leave block feeds: unblocks in a dry run only, since the rules are deleted
 * afterwards.
 */
export function lifted(dryRun: boolean) {
  const noted: Unblock[] = [];
  const note = (lift: Unblock | undefined) => {
    if (lift !== undefined && noted.length < MOST && (dryRun || lift.how === 'allow'))
      noted.splice(0, MOST, ...distinctUnblocks([...noted, lift]));
  };
  return {
    async *noting<T extends object>(each: AsyncIterable<T | PlacedEntry>): AsyncGenerator<T | PlacedEntry> {
      for await (const one of each) {
        if ('entry' in one) note(unblockOfEntry(one.entry));
        yield one;
      }
    },
    async *notingSignals(each: AsyncIterable<FileSignal>): AsyncGenerator<FileSignal> {
      for await (const one of each) {
        if (noted.length < MOST) note(unblockOfSignal(one));
        yield one;
      }
    },
    async say(sender: Sender, { url, key, list }: Destination): Promise<void> {
      const address = new URL(`${url.pathname.replace(/\/$/, '')}/v1/manage/rules`, url);
      for (const { target: value, how: action } of noted) {
        const body = Buffer.from(JSON.stringify({ value, action, list, preview: true })) as Uint8Array<ArrayBuffer>;
        try {
          const found = (await ask({ url: address, key, keepTrying: false, onRetry: () => undefined }, body)) as Preview;
          for (const { name, step } of found.still_blocked ?? [])
            sender.say(`${value} is in the block feed "${name}" all the same; what takes it out: ${step}`);
        } catch (error) {
          if (!(error instanceof SendFailure)) throw error;
          return sender.say(`it is not known whether block feeds still contain ${value}; ask weir lookup ${value} (${error.message})`);
        }
      }
    },
  };
}

interface Preview {
  readonly still_blocked?: readonly { readonly name: string; readonly step: string }[] | null;
}
