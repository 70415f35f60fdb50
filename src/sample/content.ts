/** Stored requests of a sample: masked, as lines of JSON, compressed with gzip, in parts (SPEC D21.1, D21.2). */
import { gunzipSync, gzipSync } from 'node:zlib';
import type { Layout } from '@weir/expression/evaluate/value.ts';
import { MOST_SAMPLE_BYTES, MOST_SAMPLED } from '../account/sample.ts';
import type { SampleContent } from '../ports/stored/sample-store.ts';
import type { Recorded } from '../recording/exchange.ts';
import { masked } from '../recording/mask.ts';
import { neutralLine } from '../recording/neutral.ts';
import { readRecord } from '../recording/record.ts';

/** Bytes of a part. */
const PART = 1024 * 1024;

/** Collects a uniform random sample of the offered requests, within the size limit. */
export class SampleTaker {
  readonly #layout: Layout;
  readonly #below: (limit: number) => number;
  readonly #lines: string[] = [];
  /** Number of requests offered. */
  seen = 0;
  #bytes = 0;

  /** `below(n)`: a random integer from 0 to n - 1. */
  constructor(layout: Layout, below: (limit: number) => number) {
    this.#layout = layout;
    this.#below = below;
  }

  /** Every offered request has the same chance (Vitter's algorithm R). */
  take(request: Recorded): void {
    this.seen += 1;
    const place = this.#lines.length < MOST_SAMPLED ? this.#lines.length : this.#below(this.seen);
    if (place >= MOST_SAMPLED) return;
    const line = neutralLine(this.#layout, { time: request.time, fields: masked(request.fields) });
    const grown = Buffer.byteLength(line) - (this.#lines[place] === undefined ? 0 : Buffer.byteLength(this.#lines[place]));
    if (this.#bytes + grown > MOST_SAMPLE_BYTES) return;
    this.#bytes += grown;
    this.#lines[place] = line;
  }

  content(): SampleContent {
    const packed = gzipSync(`${this.#lines.join('\n')}\n`);
    const parts: Uint8Array[] = [];
    for (let at = 0; at < packed.length; at += PART) parts.push(packed.subarray(at, at + PART));
    return { requests: this.#lines.length, bytes: this.#bytes, parts };
  }
}

export function* sampledRequests(parts: readonly Uint8Array[], layout: Layout): Generator<Recorded> {
  const text = gunzipSync(Buffer.concat(parts), { maxOutputLength: 2 * MOST_SAMPLE_BYTES }).toString('latin1');
  for (let from = 0; from < text.length; ) {
    const end = text.indexOf('\n', from);
    const record = readRecord(text.slice(from, end), layout);
    if (record !== null && typeof record !== 'string') yield record;
    from = end + 1;
  }
}
