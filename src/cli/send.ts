/** `weir send`: a file of signals to the service, batch by batch. */
import { hasCode, WeirError } from '../errors.ts';
import type { AddCommand } from './command.ts';
import { type Context, writeLine } from './context.ts';
import { postBatch, SendFailure, type Target } from './post.ts';
import { startProgress } from './progress.ts';
import { type FileSignal, type Input, openInput, readSignals, type Version } from './signal-file.ts';

const BATCH = 1000;

export function sendCommand(add: AddCommand): void {
  add(
    'send <file>',
    'send a file of signals, a JSON array or one JSON object a line; "-" reads standard input',
    (c) =>
      c
        .requiredOption('--url <url>', 'address of the service, such as http://127.0.0.1:8080', readUrl)
        .option('--key <key>', 'API key; also from WEIR_API_KEY'),
    {
      async run(context, [file], options) {
        const key = options.key ?? context.environment.WEIR_API_KEY;
        if (!key) throw new WeirError('USAGE', 'give an API key with --key or in WEIR_API_KEY');
        if (!/^[\x21-\x7e]+$/.test(key)) throw new WeirError('USAGE', 'an API key has visible ASCII characters only');
        await sendFile(context, await openInput(file), { url: options.url, key }, options.json ? jsonReport : textReport);
      },
      show: () => '',
    },
  );
}

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
  { url, key }: Pick<Target, 'url' | 'key'>,
  reporter: (context: Context) => Report,
): Promise<void> {
  const report = reporter(context);
  const progress = startProgress(context, 'sending', input.size, { signals: 0, failed: 0 });
  const say = (text: string) => {
    progress.clear();
    context.stderr.write(`weir: ${text}\n`);
  };
  const target = (version: Version) => ({ url: endpoint(url, version), key, onRetry: say });
  let bytes = 0;
  let processed = 0;
  let failed = 0;
  try {
    for await (const batch of batches(readSignals(counted(input.chunks, (length) => (bytes += length))))) {
      const first = processed + failed;
      const entries = batch.map(({ value }) => value);
      const errors = await postBatch(target(batch[0].version), entries).catch((error: unknown) => {
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
function endpoint(base: URL, version: Version): URL {
  return new URL(`${base.pathname.replace(/\/$/, '')}/v${version}/signal`, base);
}

function readUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol))
    throw new WeirError('USAGE', '--url must be an address that begins with http:// or https://');
  if (url.username !== '' || url.password !== '')
    throw new WeirError('USAGE', '--url takes no user or password; give the key with --key or in WEIR_API_KEY');
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
  for await (const item of items) {
    batch.push(item);
    if (batch.length === BATCH) {
      yield batch;
      batch = [];
    }
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
