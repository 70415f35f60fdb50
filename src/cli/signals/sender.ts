/** Sends batches and reports the results. */

import { before, timeUntil } from '../../clock.ts';
import { hasCode, WeirError } from '../../errors.ts';
import { LIMITS } from '../../signal/limits.ts';
import type { Trimmed } from '../../source/readers/content.ts';
import { arrayOf, type FileSignal, type LineFault, type Version } from '../../source/readers/items.ts';
import { plural } from '../../text/count.ts';
import { type Context, writeLine } from '../context.ts';
import { startProgress } from '../progress.ts';
import { type DryRunSum, NOTHING_TRIED, sumLines, withBatch } from './dry-run.ts';
import type { Input } from './input.ts';
import { postBatch, SendFailure, type Target } from './post.ts';

/** Limits of a request. */
const { batchEntries: BATCH, batchBytes: BATCH_BYTES } = LIMITS;
/** How long input of a pipe waits for more, ms. */
export const LINGER = 1000;

/** Failed entries are printed immediately: memory is bounded. */
interface Report {
  failed(entry: string): Promise<void>;
  end(processed: number, failed: number, tried: DryRunSum | undefined, batches: readonly string[], replacement?: string): Promise<void>;
}

export const textReport = ({ stdout, stderr }: Context): Report => ({
  failed: (entry) => writeLine(stdout, entry),
  async end(processed, failed, tried, batches) {
    const done = tried === undefined ? 'processed' : 'would be processed';
    const sum = [`${processed} signals ${done}, ${failed} failed`, ...(tried === undefined ? [] : sumLines(tried))];
    for (const line of batchLines(batches)) stderr.write(`weir: ${line}\n`);
    for (const line of sum) await writeLine(stdout, line);
  },
});

/** Printed batches and warnings. */
const PRINTED = 20;

const batchLines = (batches: readonly string[]): string[] => [
  ...batches.slice(0, PRINTED).map((id) => `batch ${id}`),
  ...(batches.length > PRINTED
    ? [`and ${batches.length - PRINTED} more batches: weir undo --key KEY --since TIME undoes them together`]
    : []),
];

/**
 * `{"failed":["Entry 7: …",…],"sent":n,"batches":[…]}`; a dry run has `dry_run` instead of batches, `--replace` a `replacement` for undo.
 */
export function jsonReport({ stdout }: Context): Report {
  let begin = '{"failed":[';
  return {
    async failed(entry) {
      await writeLine(stdout, `${begin}${JSON.stringify(entry)}`);
      begin = ',';
    },
    end: (sent, _failed, tried, batches, replacement) => {
      const rest = {
        ...(tried === undefined && batches.length > 0 && { batches }),
        ...(tried !== undefined && { dry_run: tried }),
        ...(replacement !== undefined && { replacement }),
      };
      const text = JSON.stringify({ sent, ...rest }).slice(1);
      return writeLine(stdout, `${begin === ',' ? '' : begin}],${text}`);
    },
  };
}

export type Destination = Pick<Target, 'url' | 'key' | 'actor' | 'keepTrying'> & {
  /** UUID or name; undefined: the list of the key, or the default list. */
  readonly list: string | undefined;
  readonly dryRun: boolean;
};

export interface Sender {
  /** The input; its bytes count for the progress bar. */
  readonly chunks: AsyncIterable<Buffer>;
  /** Ids of the batches so far. */
  readonly batches: readonly string[];
  /** Rejects with SendFailure, and with errors of the input. */
  send(signals: AsyncIterable<FileSignal | LineFault>): Promise<void>;
  /** A dry run of signals of one version. */
  tryOut(signals: readonly FileSignal[]): Promise<DryRunSum>;
  /** Counts and reports entries of an upload; `replacement`: its id for undo. */
  done(processed: number, failed: number, failures: readonly string[], replacement?: string): Promise<void>;
  /** Updates the progress of an upload. */
  handedOver(lines: number): void;
  /** To standard error. */
  say(text: string): void;
}

/** Reports skipped entries. */
export const reportTrimmed =
  ({ say }: Sender) =>
  ({ expired, passed }: Trimmed): void => {
    if (expired > 0)
      say(
        `${plural(expired, 'entry', 'entries')} ${expired === 1 ? 'has' : 'have'} expired and ${expired === 1 ? 'was' : 'were'} left out`,
      );
    for (const [reason, count] of passed) say(`${plural(count, 'row')} passed over: ${reason}`);
  };

/** The exit code is 1 if an entry failed or the service refused a batch. */
export async function sending(
  context: Context,
  input: Input,
  { url, list, key, actor, keepTrying, dryRun }: Destination,
  reporter: (context: Context) => Report,
  work: (sender: Sender) => Promise<void>,
): Promise<void> {
  const report = reporter(context);
  const progress = startProgress(context, 'sending', input.size, { signals: 0, failed: 0 });
  const say = (text: string) => {
    progress.clear();
    context.stderr.write(`weir: ${text}\n`);
  };
  const target = (version: Version, isTrial = dryRun) => ({
    url: endpoint(url, version, list, isTrial),
    key,
    actor,
    keepTrying,
    onRetry: say,
  });
  const tryOut = async (signals: readonly FileSignal[]) =>
    withBatch(NOTHING_TRIED, await postBatch(target(signals[0].version, true), arrayOf(signals)));
  let bytes = 0;
  let processed = 0;
  let failed = 0;
  let warned = 0;
  const batchIds: string[] = [];
  let replacement: string | undefined;
  let tried: DryRunSum | undefined = dryRun ? NOTHING_TRIED : undefined;

  const fail = async (entry: string) => {
    progress.clear();
    await report.failed(entry);
  };
  const handedOver = (lines: number) => progress.update(bytes, { signals: lines, failed });
  const done = async (taken: number, wrong: number, failures: readonly string[], group?: string) => {
    replacement = group;
    processed += taken;
    failed += wrong;
    for (const each of failures) await fail(each);
  };
  async function send(signals: AsyncIterable<FileSignal | LineFault>): Promise<void> {
    for await (const batch of batches(signals, input.size === undefined ? LINGER : undefined)) {
      if ('fault' in batch) {
        failed += 1;
        await fail(`${batch.place}: ${batch.fault}`);
      } else {
        const inFile = (text: string) => numbered(text, batch, processed + failed);
        const answer = await postBatch(target(batch[0].version), arrayOf(batch)).catch((error: unknown) => {
          throw error instanceof SendFailure ? new SendFailure(inFile(error.message)) : error;
        });
        const failures = answer.errors.map(inFile);
        processed += batch.length - failures.length;
        failed += failures.length;
        tried = tried && withBatch(tried, answer);
        if (answer.batch !== null) batchIds.push(answer.batch);
        for (const error of failures) await fail(error);
        for (const warning of answer.warnings.slice(0, Math.max(0, PRINTED - warned))) say(`warning: ${warning}`);
        warned += answer.warnings.length;
      }
      progress.update(bytes, { signals: processed, failed });
    }
  }

  try {
    await work({ chunks: counted(input.chunks, (length) => (bytes += length)), batches: batchIds, send, tryOut, done, handedOver, say });
    if (failed > 0) context.exitCode = 1;
  } catch (error) {
    if (hasCode(error, 'USAGE')) throw new WeirError('USAGE', `${error.message}${afterwards(processed + failed)}`);
    if (!(error instanceof SendFailure)) throw error;
    context.exitCode = 1;
    say(`${error.message}${afterwards(processed + failed)}`);
  } finally {
    progress.stop();
    if (warned > PRINTED) say(`and ${plural(warned - PRINTED, 'more warning')}`);
    await report.end(processed, failed, tried, batchIds, replacement);
  }
}

const afterwards = (sent: number) => (sent === 0 ? '; nothing was sent' : `; the ${sent} signals before its batch were sent`);

/** The address may have a path, behind a proxy. */
function endpoint(base: URL, version: Version, list: string | undefined, dryRun: boolean): URL {
  const query = [...(list === undefined ? [] : [`list=${encodeURIComponent(list)}`]), ...(dryRun ? ['dry_run=1'] : [])].join('&');
  return new URL(`${base.pathname.replace(/\/$/, '')}/v${version}/signal${query === '' ? '' : `?${query}`}`, base);
}

async function* counted(chunks: Input['chunks'], onChunk: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    onChunk(chunk.length);
    yield chunk;
  }
}

/**
 * Batches of one version, in the order of the items and as large as possible; faults separately. `linger`: the longest wait for more items,
 * ms.
 */
async function* batches(
  items: AsyncIterable<FileSignal | LineFault>,
  linger: number | undefined,
): AsyncGenerator<FileSignal[] | LineFault> {
  const source = items[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<FileSignal | LineFault>> | undefined;
  let batch: FileSignal[] = [];
  // A separator precedes each entry, and a bracket ends the array.
  let bytes = 1;
  let deadline = 0;
  const taken = () => {
    const whole = batch;
    [batch, bytes] = [[], 1];
    return whole;
  };
  try {
    for (;;) {
      next ??= source.next();
      const found = linger === undefined || batch.length === 0 ? await next : await before(next, timeUntil(deadline, performance.now()));
      if (found === undefined) {
        yield taken();
        continue;
      }
      next = undefined;
      if (found.done) break;
      const { value } = found;
      if ('fault' in value) {
        yield value;
        continue;
      }
      if (batch.length > 0 && !fits(batch, bytes, value)) yield taken();
      if (batch.length === 0) deadline = performance.now() + (linger ?? 0);
      batch.push(value);
      bytes += value.json.length + 1;
      if (batch.length === BATCH) yield taken();
    }
    if (batch.length > 0) yield taken();
  } finally {
    await source.return?.();
  }
}

const fits = (batch: readonly FileSignal[], bytes: number, { json, version }: FileSignal): boolean =>
  bytes + json.length + 1 <= BATCH_BYTES && version === batch[0].version;

/** Replaces the index in the batch by the place in the file. */
function numbered(text: string, batch: readonly FileSignal[], first: number): string {
  return text.replace(/\bEntry (\d+):/, (_, index: string) => `${batch[Number(index)]?.place ?? `Entry ${first + Number(index)}`}:`);
}
