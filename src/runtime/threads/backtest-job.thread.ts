/** Runs one backtest, from recording to report. */
import { constants, setPriority } from 'node:os';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import { reportOf } from '../../backtest/report.ts';
import { tallyOf } from '../../backtest/tally.ts';
import { decompressed, pieces } from '../../recording/bytes.ts';
import { readSchemes } from '../schemes.ts';
import { geoFields } from './backtest-geo.ts';
import type { JobData, JobMessage } from './backtest-jobs.ts';

const PIECE = 64 * 1024;
/** Progress interval, ms. */
const REPORT_EVERY = 200;

const { rules, kind, view, schemesFile, geo, recording, unpackedBytes, resultBytes } = workerData as JobData;
const port = parentPort as MessagePort;
const send = (message: JobMessage) => port.postMessage(message);

let readBytes = 0;
async function* chunks(): AsyncGenerator<Buffer> {
  while (readBytes < recording.length) {
    const chunk = recording.subarray(readBytes, readBytes + PIECE);
    readBytes += chunk.length;
    yield Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
  }
}

/** An error that the sender can fix. */
class Unfit extends Error {}

async function* unpacked(): AsyncGenerator<Buffer> {
  let length = 0;
  for await (const chunk of decompressed(chunks())) {
    length += chunk.length;
    if (length > unpackedBytes) throw new Unfit(`the recording is larger than ${unpackedBytes / 1024 / 1024} MiB after unpacking`);
    yield chunk;
  }
}

async function run(): Promise<JobMessage> {
  const scheme = readSchemes(schemesFile)[kind];
  const tally = tallyOf(rules, scheme, { view, geoOf: geo === undefined ? undefined : geoFields(geo) });
  let at = 0;
  let sentAt = performance.now();
  for await (const found of pieces(unpacked())) {
    tally.take(found, at);
    at += found.length;
    if (performance.now() - sentAt < REPORT_EVERY) continue;
    sentAt = performance.now();
    send({ readBytes, requests: tally.count.requests });
  }
  const { count } = tally;
  if (count.requests === 0)
    throw new Unfit(`there is no request in the recording${count.unreadReason === null ? '' : `: ${count.unreadReason}`}`);
  const result = JSON.stringify(reportOf(rules, scheme, view, count));
  if (result.length > resultBytes)
    throw new Unfit(`the result is larger than ${resultBytes / 1024 / 1024} MiB: test fewer rules at a time`);
  return { readBytes, requests: count.requests, result };
}

// Linux threads have own priorities: requests first.
if (process.platform === 'linux') setPriority(constants.priority.PRIORITY_LOW);
try {
  send(await run());
} catch (error) {
  const { code, message } = error as Error & { code?: string };
  if (!(error instanceof Unfit) && code?.startsWith('Z_') !== true) throw error;
  send({ fault: code?.startsWith('Z_') === true ? `the recording cannot be unpacked: ${message}` : message });
}
