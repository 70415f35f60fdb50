/** `weir send --replace`, for lists of any size (SPEC D11.4). */
import { setTimeout as sleep } from 'node:timers/promises';
import { WeirError } from '../../errors.ts';
import type { replacementJson } from '../../manage/operations/rules/replacements.ts';
import { formatTarget } from '../../signal/target.ts';
import { largeText } from '../../source/addresses.ts';
import type { PassedRow, PlacedEntry } from '../../source/readers/content.ts';
import type { ListEntry } from '../../source/readers/entry.ts';
import type { LineFault } from '../../source/readers/items.ts';
import type { ListAction } from '../../source/readers/verdict.ts';
import type { PlacedFault } from '../../source/sync.ts';
import { plural } from '../../text/count.ts';
import { ask, SendFailure } from './post.ts';
import { type Destination, reportTrimmed, type Sender } from './sender.ts';

/** Lines and bytes of a part. */
const LINES = 10_000;
const BYTES = 1024 * 1024;
/** Polling interval, ms. */
const LOOK = 250;
/** Named faults before the question. */
const MOST_NAMED = 20;

interface Replacing extends Destination {
  /** Of entries without their own. */
  readonly action: ListAction;
  /** Large changes are confirmed. */
  readonly isSure: boolean;
  /** For entries that guard rails refuse. */
  readonly refused: 'keep' | 'skip';
}

type Replacement = ReturnType<typeof replacementJson>;
type Plan = NonNullable<Replacement['plan']>;

/**
 * Uploads the content in parts; the service compares and changes the list. Rejects with USAGE for a large change without confirmation or a
 * failed replacement, with SendFailure if the service does not answer.
 */
export async function replaceList(
  sender: Sender,
  entries: AsyncIterable<PlacedEntry | LineFault | PassedRow>,
  { url, key, actor, keepTrying, list, action, isSure, refused }: Replacing,
): Promise<void> {
  const request = async (path: string, body?: Uint8Array<ArrayBuffer>) => {
    const address = new URL(`${url.pathname.replace(/\/$/, '')}/v1/manage/replacements${path}`, url);
    return (await ask({ url: address, key, actor, keepTrying, onRetry: sender.say }, body)) as unknown as Replacement;
  };
  if (action === 'unblock') throw new WeirError('USAGE', 'a file that replaces a list contains its rules: unblock is not allowed');
  const { id } = await request('', bytesOf({ list, action, refused }));
  let [parts, lines] = [0, 0];
  for await (const part of partsOf(entries)) {
    await request(`/${id}/parts?n=${parts}`, part.bytes);
    parts += 1;
    lines += part.lines;
    sender.handedOver(lines);
  }
  // A retry after a lost answer finds a replacement that has started.
  const refusal = await request(`/${id}/start`, bytesOf({ parts, lines, confirmed: isSure })).then(
    () => undefined,
    (error: unknown) => error,
  );
  let replacement = await request(`/${id}`);
  if (refusal !== undefined && replacement.state === 'open') throw refusal;
  for (; ['planning', 'running'].includes(replacement.state); replacement = await request(`/${id}`)) await sleep(LOOK);
  if (replacement.state === 'failed') throw new WeirError('USAGE', replacement.reason ?? 'the service gave it up');
  const plan = replacement.plan!;
  if (replacement.state === 'planned') {
    const { wide, errors } = plan;
    for (const error of errors.slice(0, MOST_NAMED)) sender.say(placed(error));
    const unnamed = plan.failed + plan.refused - Math.min(errors.length, MOST_NAMED);
    if (unnamed > 0) sender.say(`and ${plural(unnamed, 'more entry', 'more entries')} that cannot be accepted`);
    const whole = wide > 0 ? `, among them ${plural(wide, 'whole country or ASN', 'whole countries and ASNs')}` : '';
    throw new WeirError('USAGE', `${largeText(replacement.list, plan)}${whole}: to change it all the same, add --yes`);
  }
  if (replacement.state !== 'done') throw new SendFailure(`the replacement ${id} is ${replacement.state}`);
  await report(sender, replacement, plan, refused);
  if (replacement.batches.length > 0) sender.say(`weir undo ${id} --workspace WORKSPACE puts back all of it`);
}

const placed = ({ place, message }: PlacedFault) => `${place}: ${message}`;

async function report(sender: Sender, { id, list, batches }: Replacement, plan: Plan, refused: Replacing['refused']): Promise<void> {
  const { added, changed, unchanged, removed, kept: named, errors, expired, passed } = plan;
  const failed = plan.failed + (refused === 'keep' ? plan.refused : 0);
  await sender.done(added + changed + unchanged, failed, errors.map(placed), batches.length > 0 ? id : undefined);
  reportTrimmed(sender)({ expired, passed: new Map(Object.entries(passed)) });
  if (refused === 'skip' && plan.refused > 0)
    sender.say(`refused by guard rails, and counted as absent: ${plural(plan.refused, 'entry', 'entries')}`);
  if (failed > 0) sender.say('nothing was removed from the list, because entries of the file failed');
  else sender.say(`removed from the list "${list}", because not in the file: ${plural(removed, 'rule')}`);
  sender.say(`${plural(added, 'rule')} new, ${changed} changed or renewed, ${unchanged} as before`);
  if (named > 0) sender.say(`${plural(named, 'rule')} with a rule_ref as before`);
}

const bytesOf = (value: object) => Buffer.from(JSON.stringify(value)) as Uint8Array<ArrayBuffer>;

/** JSON lines, in parts of the largest size. */
async function* partsOf(
  entries: AsyncIterable<PlacedEntry | LineFault | PassedRow>,
): AsyncGenerator<{ readonly bytes: Uint8Array<ArrayBuffer>; readonly lines: number }> {
  let [texts, length]: [string[], number] = [[], 0];
  for await (const each of entries) {
    const line = `${JSON.stringify('entry' in each ? lineOf(each.entry, each.place) : each)}\n`;
    const bytes = Buffer.byteLength(line);
    if (texts.length === LINES || length + bytes > BYTES) {
      yield { bytes: Buffer.from(texts.join('')) as Uint8Array<ArrayBuffer>, lines: texts.length };
      [texts, length] = [[], 0];
    }
    texts.push(line);
    length += bytes;
  }
  if (texts.length > 0) yield { bytes: Buffer.from(texts.join('')) as Uint8Array<ArrayBuffer>, lines: texts.length };
}

const lineOf = ({ target, action, expiry, reason, labels, config, ruleRef, name }: ListEntry, place: string) => ({
  place,
  value: formatTarget(target),
  action,
  ...(expiry !== undefined && ('at' in expiry ? { expires_at: new Date(expiry.at).toISOString() } : { expires_in: `${expiry.seconds}s` })),
  reason,
  labels,
  config,
  rule_ref: ruleRef,
  name,
});
