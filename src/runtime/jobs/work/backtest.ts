/** Runs one backtest, from recording to report. */
import type { MessagePort } from 'node:worker_threads';
import { reportOf } from '../../../backtest/report.ts';
import { tallyOf } from '../../../backtest/tally.ts';
import { WeirError } from '../../../errors.ts';
import type { BacktestAsked } from '../../../manage/expressions/backtests.ts';
import { decompressed, pieces } from '../../../recording/bytes.ts';
import { readSchemes } from '../../schemes.ts';
import { type GeoTables, geoFields } from './backtest-geo.ts';

const PIECE = 64 * 1024;
/** Progress interval, ms. */
const REPORT_EVERY = 200;
/** Limits of an unpacked recording, and of a result, MiB. */
const [MOST_UNPACKED, MOST_RESULT] = [1024, 2];
const MEBIBYTE = 1024 * 1024;

export interface BacktestJobData extends BacktestAsked {
  readonly schemesFile: string | undefined;
  readonly geo: GeoTables | undefined;
}

/** Pushed. */
export interface Progress {
  readonly readBytes: number;
  readonly requests: number;
}

export function serve({ rules, kind, view, schemesFile, geo, recording }: BacktestJobData, port: MessagePort) {
  let readBytes = 0;
  async function* chunks(): AsyncGenerator<Buffer> {
    while (readBytes < recording.length) {
      const chunk = recording.subarray(readBytes, readBytes + PIECE);
      readBytes += chunk.length;
      yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    }
  }

  async function* unpacked(): AsyncGenerator<Buffer> {
    let length = 0;
    for await (const chunk of decompressed(chunks())) {
      length += chunk.length;
      if (length > MOST_UNPACKED * MEBIBYTE) throw unfit(`the recording is larger than ${MOST_UNPACKED} MiB after unpacking`);
      yield chunk;
    }
  }

  return {
    /** The report as JSON, with the final progress. Rejects with REFUSED, or a code of zlib, because of the recording. */
    async run(): Promise<Progress & { readonly result: string }> {
      const scheme = readSchemes(schemesFile)[kind];
      const tally = tallyOf(rules, scheme, { view, geoOf: geo && geoFields(geo) });
      let at = 0;
      let sentAt = performance.now();
      for await (const found of pieces(unpacked())) {
        tally.take(found, at);
        at += found.length;
        if (performance.now() - sentAt < REPORT_EVERY) continue;
        sentAt = performance.now();
        port.postMessage({ readBytes, requests: tally.count.requests } satisfies Progress);
      }
      const { count } = tally;
      const { requests, unreadReason } = count;
      if (requests === 0) throw unfit(`there is no request in the recording${unreadReason === null ? '' : `: ${unreadReason}`}`);
      const result = JSON.stringify(reportOf(rules, scheme, view, count));
      if (result.length > MOST_RESULT * MEBIBYTE) throw unfit(`the result is larger than ${MOST_RESULT} MiB: test fewer rules at a time`);
      return { readBytes, requests, result };
    },
  };
}

const unfit = (text: string) => new WeirError('REFUSED', text);
