/** `weir send`: a file of signals to the service, batch by batch. */
import { hasCode, WeirError } from '../errors.ts';
import { LIMITS } from '../signal/limits.ts';
import type { AddCommand } from './command.ts';
import { type Context, writeLine } from './context.ts';
import { postBatch, SendFailure, type Target } from './post.ts';
import { startProgress } from './progress.ts';
import { type FileSignal, type Input, openInput, readSignals, type Version } from './signal-file.ts';

/** Entries and bytes that the service takes in one request. */
const { batchEntries: BATCH, batchBytes: BATCH_BYTES } = LIMITS;

export function sendCommand(add: AddCommand): void {
  add(
    'send <file>',
    'send a file of signals, a JSON array or one JSON object a line; "-" reads standard input',
    (c) =>
      c
        .requiredOption('--url <url>', 'address of the service, such as http://127.0.0.1:8080', readUrl)
        .option('--list <list>', 'UUID or name of the list that access rules go to; else the list of the key or the default one')
        .option('--key <key>', 'API key in place of the one in WEIR_API_KEY; every user of the machine sees it in the process list'),
    {
      async run(context, [file], options) {
        const key = options.key ?? context.environment.WEIR_API_KEY;
        if (!key) throw new WeirError('USAGE', 'give an API key with --key or in WEIR_API_KEY');
        if (!/^[\x21-\x7e]+$/.test(key)) throw new WeirError('USAGE', 'an API key has visible ASCII characters only');
        const input = await openInput(file);
        if (options.key !== undefined) context.stderr.write(`weir: ${KEY_WARNING}\n`);
        await sendFile(context, input, { url: options.url, list: options.list, key }, options.json ? jsonReport : textReport);
      },
      show: () => '',
    },
  );
}

const KEY_WARNING = 'every user of this machine sees a key that is given with --key in the process list; WEIR_API_KEY is not shown there';

/** How the result is printed: failed entries as they come, so that a file of any length needs no memory. */
interface Report {
  failed(entry: string): Promise<void>;
  end(processed: number, failed: number): Promise<void>;
}

const textReport = ({ stdout }: Context): Report => ({
  failed: (entry) => writeLine(stdout, entry),
  end: (processed, failed) => writeLine(stdout, `${processed} signals processed, ${failed} failed`),
});

/** `{"failed":["Entry 7: …",…],"sent":n}` */
function jsonReport({ stdout }: Context): Report {
  let begin = '{"failed":[';
  return {
    async failed(entry) {
      await writeLine(stdout, `${begin}${JSON.stringify(entry)}`);
      begin = ',';
    },
    end: (sent) => writeLine(stdout, `${begin === ',' ? '' : begin}],"sent":${sent}}`),
  };
}

async function sendFile(
  context: Context,
  input: Input,
  { url, list, key }: Pick<Target, 'url' | 'key'> & { readonly list: string | undefined },
  reporter: (context: Context) => Report,
): Promise<void> {
  const report = reporter(context);
  const progress = startProgress(context, 'sending', input.size, { signals: 0, failed: 0 });
  const say = (text: string) => {
    progress.clear();
    context.stderr.write(`weir: ${text}\n`);
  };
  const target = (version: Version) => ({ url: endpoint(url, version, list), key, onRetry: say });
  let bytes = 0;
  let processed = 0;
  let failed = 0;
  try {
    for await (const batch of batches(readSignals(counted(input.chunks, (length) => (bytes += length))))) {
      const first = processed + failed;
      const errors = await postBatch(target(batch[0].version), bodyOf(batch)).catch((error: unknown) => {
        throw inFile(error, first);
      });
      processed += batch.length - errors.length;
      failed += errors.length;
      if (errors.length > 0) progress.clear();
      for (const error of errors) await report.failed(numbered(error, first));
      progress.update(bytes, { signals: processed, failed });
    }
    if (failed > 0) context.exitCode = 1;
  } catch (error) {
    if (hasCode(error, 'USAGE')) throw new WeirError('USAGE', `${error.message}${afterwards(processed + failed)}`);
    if (!(error instanceof SendFailure)) throw error;
    context.exitCode = 1;
    say(`${error.message}${afterwards(processed + failed)}`);
  } finally {
    progress.stop();
    await report.end(processed, failed);
  }
}

const afterwards = (sent: number) => (sent === 0 ? '; nothing was sent' : `; the ${sent} signals before its batch were sent`);

/** The service's address may have a path of its own, behind a proxy. */
function endpoint(base: URL, version: Version, list: string | undefined): URL {
  const query = list === undefined ? '' : `?list=${encodeURIComponent(list)}`;
  return new URL(`${base.pathname.replace(/\/$/, '')}/v${version}/signal${query}`, base);
}

const [BEGIN, COMMA, END] = ['[', ',', ']'].map((mark) => Buffer.from(mark));

/** A JSON array of the signals' own bytes. */
function bodyOf(batch: readonly FileSignal[]): Buffer<ArrayBuffer> {
  return Buffer.concat([...batch.flatMap(({ json }, i) => [i === 0 ? BEGIN : COMMA, json]), END]);
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new WeirError('USAGE', '--url must be an address that begins with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw new WeirError('USAGE', '--url takes no user or password; give the key in WEIR_API_KEY or with --key');
  if (/[?#]/.test(text)) throw new WeirError('USAGE', '--url takes no query and no fragment; name a list with --list');
  return url;
}

async function* counted(chunks: Input['chunks'], onChunk: (bytes: number) => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    onChunk(chunk.length);
    yield chunk;
  }
}

async function* batches(items: AsyncIterable<FileSignal>): AsyncGenerator<FileSignal[]> {
  let batch: FileSignal[] = [];
  // One byte stands before each entry, one behind them all.
  let bytes = 1;
  for await (const item of items) {
    const size = item.json.length + 1;
    if (batch.length > 0 && bytes + size > BATCH_BYTES) {
      yield batch;
      [batch, bytes] = [[], 1];
    }
    batch.push(item);
    bytes += size;
    if (batch.length < BATCH) continue;
    yield batch;
    [batch, bytes] = [[], 1];
  }
  if (batch.length > 0) yield batch;
}

/** The service numbers the entries of a batch; the reader wants the number in the file, from 0 as well. */
function numbered(text: string, first: number): string {
  return text.replace(/\bEntry (\d+):/, (_, index: string) => `Entry ${first + Number(index)}:`);
}

function inFile(error: unknown, first: number): unknown {
  return error instanceof SendFailure ? new SendFailure(numbered(error.message, first)) : error;
}
