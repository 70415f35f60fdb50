/** Sends signals to the service batch by batch, and tells what became of them: the work of `weir send`. */

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

/** Entries and bytes that the service takes in one request. */
const { batchEntries: BATCH, batchBytes: BATCH_BYTES } = LIMITS;
/** How long what came through a pipe waits for more to go with it, ms. */
export const LINGER = 1000;

/** How the result is printed: failed entries as they come, so that a file of any length needs no memory. */
interface Report {
  failed(entry: string): Promise<void>;
  /** `tried` is what a dry run has learnt; undefined where the signals were meant. `batches` are what the service calls the batches. */
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

/** Batches, and warnings, that are printed for people. */
const TOLD = 20;

const batchLines = (batches: readonly string[]): string[] => [
  ...batches.slice(0, TOLD).map((id) => `batch ${id}`),
  ...(batches.length > TOLD ? [`and ${batches.length - TOLD} more batches: weir undo --key KEY --since TIME undoes them together`] : []),
];

/** `{"failed":["Entry 7: …",…],"sent":n,"batches":[…]}`; a dry run has `dry_run` instead of batches, `--replace` the `replacement` that undo takes. */
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

/** Where signals go. */
export type Destination = Pick<Target, 'url' | 'key' | 'actor' | 'keepTrying'> & {
  /** UUID or name; undefined = the list of the key, or the default one. */
  readonly list: string | undefined;
  /** Whether signals are only tried. */
  readonly dryRun: boolean;
};

/** What the work of one command sends with. */
export interface Sender {
  /** The bytes of the input, counted for the progress that is shown. */
  readonly chunks: AsyncIterable<Buffer>;
  /** What the service calls the batches that it took so far. */
  readonly batches: readonly string[];
  /** Sends these, with those before. Rejects with SendFailure when the service takes no more, and with what reading them rejects with. */
  send(signals: AsyncIterable<FileSignal | LineFault>): Promise<void>;
  /** What signals of one version would do to feeds; they are not sent for good. */
  tryOut(signals: readonly FileSignal[]): Promise<DryRunSum>;
  /** Counts entries that were handed over elsewhere, and tells what is wrong with others; `replacement`: what undoes all of it. */
  done(processed: number, failed: number, told: readonly string[], replacement?: string): Promise<void>;
  /** Shows how far it is: what was read of the input is where it is handed over to, and so many lines of it. */
  handedOver(lines: number): void;
  /** A line for the person, on standard error. */
  say(text: string): void;
}

/** Says which entries of a list ask for nothing. */
export const reportTrimmed =
  ({ say }: Sender) =>
  ({ expired, passed }: Trimmed): void => {
    if (expired > 0)
      say(
        `${plural(expired, 'entry', 'entries')} ${expired === 1 ? 'has' : 'have'} expired and ${expired === 1 ? 'was' : 'were'} left out`,
      );
    for (const [reason, count] of passed) say(`${plural(count, 'row')} passed over: ${reason}`);
  };

/** Runs `work` with a sender and prints its report; the command's exit code is 1 when an entry failed or the service took no more. */
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
  const done = async (taken: number, wrong: number, told: readonly string[], group?: string) => {
    replacement = group;
    processed += taken;
    failed += wrong;
    for (const each of told) await fail(each);
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
        const told = answer.errors.map(inFile);
        processed += batch.length - told.length;
        failed += told.length;
        tried = tried && withBatch(tried, answer);
        if (answer.batch !== null) batchIds.push(answer.batch);
        for (const error of told) await fail(error);
        for (const warning of answer.warnings.slice(0, Math.max(0, TOLD - warned))) say(`warning: ${warning}`);
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
    if (warned > TOLD) say(`and ${plural(warned - TOLD, 'more warning')}`);
    await report.end(processed, failed, tried, batchIds, replacement);
  }
}

const afterwards = (sent: number) => (sent === 0 ? '; nothing was sent' : `; the ${sent} signals before its batch were sent`);

/** The service's address may have a path of its own, behind a proxy. */
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
 * Batches of one version, as large as the service takes, in the order of the items; faults by themselves. With `linger` (ms) a batch is
 * not held back for longer than that.
 */
async function* batches(
  items: AsyncIterable<FileSignal | LineFault>,
  linger: number | undefined,
): AsyncGenerator<FileSignal[] | LineFault> {
  const source = items[Symbol.asyncIterator]();
  let next: Promise<IteratorResult<FileSignal | LineFault>> | undefined;
  let batch: FileSignal[] = [];
  // One byte stands before each entry, one behind them all.
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

/** The service numbers the entries of a batch; the reader wants the place in the file, or the number there, from 0 as well. */
function numbered(text: string, batch: readonly FileSignal[], first: number): string {
  return text.replace(/\bEntry (\d+):/, (_, index: string) => `${batch[Number(index)]?.place ?? `Entry ${first + Number(index)}`}:`);
}
