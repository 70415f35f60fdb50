/** Complete or not at all, only if changed, within limits (SPEC D17.3, D17.5, D17.6). */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import about from '../../package.json' with { type: 'json' };
import { hasCode, WeirError } from '../errors.ts';
import { type FetchLimits, fetchInto, type Validators, type Write } from '../fetch/fetch.ts';
import { ANYWHERE } from '../fetch/reach.ts';

export interface DownloadLimits extends FetchLimits {
  /** Bytes. */
  readonly lineBytes: number;
}

/** Geo files have up to 60 MB. */
export const DOWNLOAD_LIMITS: DownloadLimits = { idleMs: 30_000, totalMs: 600_000, bytes: 256 * 1024 * 1024, lineBytes: 64 * 1024 };

/** Of a text in memory, such as a list of checksums. */
const TEXT_BYTES = 1024 * 1024;

const LF = 0x0a;
const USER_AGENT = `weir/${about.version}`;

export interface Downloaded {
  readonly validators: Validators;
  /** Hexadecimal. */
  readonly sha256: string;
  readonly lines: number;
  /** Ends with a line feed; otherwise its end may be missing. */
  readonly isComplete: boolean;
}

export interface DownloadRequest {
  readonly url: string;
  /** Of the previous download; undefined: fetch in any case. */
  readonly known: Validators | undefined;
  readonly limits: DownloadLimits;
  readonly signal: AbortSignal;
}

/** Appends the body to `file`; undefined if it has not changed (304). Rejects with GEO_FILE. */
export async function download(request: DownloadRequest, file: () => Promise<FileHandle>): Promise<Downloaded | undefined> {
  const hash = createHash('sha256');
  const { lineBytes } = request.limits;
  let lines = 0;
  /** Bytes of the unfinished line. */
  let open = 0;
  let last = LF;
  const validators = await fetchOrFail(request, async (bytes) => {
    hash.update(bytes);
    let from = 0;
    for (;;) {
      const end = bytes.indexOf(LF, from);
      open += (end < 0 ? bytes.length : end) - from;
      if (open > lineBytes) throw new WeirError('GEO_FILE', `line ${lines + 1} is longer than ${lineBytes} bytes`);
      if (end < 0) break;
      lines++;
      open = 0;
      from = end + 1;
    }
    last = bytes.at(-1) ?? last;
    await (await file()).writeFile(bytes);
  });
  return validators && { validators, sha256: hash.digest('hex'), lines, isComplete: last === LF };
}

/** At most 1 MiB; undefined on 404. Rejects with GEO_FILE. */
export async function downloadText(request: Omit<DownloadRequest, 'known'>): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  const limits = { ...request.limits, bytes: Math.min(request.limits.bytes, TEXT_BYTES) };
  const found = await fetchOrFail({ ...request, limits, known: undefined }, async (bytes) => void pieces.push(bytes), [404]);
  return found && Buffer.concat(pieces).toString('utf8');
}

/** Passes the body to `write`; undefined on 304 and on the statuses in `none`. */
async function fetchOrFail(request: DownloadRequest, write: Write, none: readonly number[] = []): Promise<Validators | undefined> {
  const { url, known, limits, signal } = request;
  try {
    // Set by the operator of the service.
    const fetched = await fetchInto({ url, known, limits, signal, userAgent: USER_AGENT, reach: ANYWHERE }, write, Date.now);
    if (fetched.kind === 'fetched') return fetched.validators;
    if (fetched.kind === 'unchanged' || none.includes(fetched.status)) return undefined;
    throw new WeirError('GEO_FILE', `${url}: the server answers ${fetched.status}`);
  } catch (error) {
    throw hasCode(error, 'FETCH') ? new WeirError('GEO_FILE', error.message, { cause: error.cause }) : error;
  }
}
