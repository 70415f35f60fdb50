import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { WeirError } from '../../errors.ts';

export interface Input {
  readonly chunks: AsyncIterable<Buffer>;
  /** Bytes; undefined: unknown. */
  readonly size: number | undefined;
}

/** "-": standard input. */
export async function openInput(file: string): Promise<Input> {
  if (file === '-') return { chunks: process.stdin, size: undefined };
  const found = await stat(file).catch(() => undefined);
  if (found === undefined || found.isDirectory()) throw new WeirError('USAGE', `the file "${file}" cannot be read`);
  return { chunks: createReadStream(file), size: found.isFile() ? found.size : undefined };
}
