/** Fetches one file over HTTP into a file: whole or not at all, only when it has changed, within limits (SPEC D17.3, D17.5, D17.6). */
import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { WeirError } from '../errors.ts';

/** How long and how much a download may take. */
export interface DownloadLimits {
  /** Without a byte, ms. */
  readonly idleMs: number;
  /** In all, ms. */
  readonly totalMs: number;
  /** Unpacked, bytes. */
  readonly bytes: number;
  /** A line, bytes. */
  readonly lineBytes: number;
}

/** The limits of geo files, which have up to 60 MB. */
export const DOWNLOAD_LIMITS: DownloadLimits = { idleMs: 30_000, totalMs: 600_000, bytes: 256 * 1024 * 1024, lineBytes: 64 * 1024 };

/** A text that is held in memory, such as a list of checksums, may have so many bytes. */
const TEXT_BYTES = 1024 * 1024;

const MOST_REDIRECTS = 5;
const LF = 0x0a;

/** What a server says of the state of a file, for asking whether it has changed. */
export interface Validators {
  readonly etag?: string;
  readonly lastModified?: string;
}

/** A file that was fetched. */
export interface Downloaded {
  readonly validators: Validators;
  /** Its SHA-256, hexadecimal. */
  readonly sha256: string;
  readonly lines: number;
  /** Whether it ends with a line feed: one that does not may have lost its end. */
  readonly isComplete: boolean;
}

export interface DownloadRequest {
  readonly url: string;
  /** The state that is known already; undefined = fetch in any case. */
  readonly known: Validators | undefined;
  readonly limits: DownloadLimits;
  /** Ends the download. */
  readonly signal: AbortSignal;
}

/** Where the bytes go, piece by piece. */
type Write = (bytes: Uint8Array) => Promise<unknown>;

/** Appends what is behind the address to `file`; undefined when the server says that it is as known. Rejects with GEO_FILE. */
export async function download(request: DownloadRequest, file: () => Promise<FileHandle>): Promise<Downloaded | undefined> {
  const hash = createHash('sha256');
  const { lineBytes } = request.limits;
  let lines = 0;
  /** Bytes of the line that has not ended yet. */
  let open = 0;
  let last = LF;
  const validators = await fetchInto(request, async (bytes) => {
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

/** The text behind an address, of 1 MiB at most; undefined when there is none (404). Rejects with GEO_FILE. */
export async function downloadText(request: Omit<DownloadRequest, 'known'>): Promise<string | undefined> {
  const pieces: Uint8Array[] = [];
  const limits = { ...request.limits, bytes: Math.min(request.limits.bytes, TEXT_BYTES) };
  const found = await fetchInto({ ...request, limits, known: undefined }, async (bytes) => void pieces.push(bytes), [404]);
  return found && Buffer.concat(pieces).toString('utf8');
}

/** Hands the body to `write`; undefined when there is none: 304, or one of the statuses `none`. */
async function fetchInto(request: DownloadRequest, write: Write, none: readonly number[] = []): Promise<Validators | undefined> {
  const { url, limits } = request;
  using deadlines = startDeadlines(limits, request.signal);
  try {
    const response = await follow(request, deadlines.signal);
    const isNone = none.includes(response.status) || (response.status === 304 && request.known !== undefined);
    if (isNone || !response.ok || response.body === null) {
      await response.body?.cancel();
      if (isNone) return undefined;
      throw new WeirError('GEO_FILE', `the server answers ${response.status}`);
    }
    let bytes = 0;
    for await (const piece of response.body) {
      deadlines.heard();
      bytes += piece.length;
      if (bytes > limits.bytes) throw new WeirError('GEO_FILE', `it is longer than ${limits.bytes} bytes`);
      await write(piece);
    }
    const [etag, lastModified] = ['etag', 'last-modified'].map((name) => response.headers.get(name) ?? undefined);
    return { ...(etag && { etag }), ...(lastModified && { lastModified }) };
  } catch (error) {
    throw new WeirError('GEO_FILE', `${url}: ${reasonOf(error)}`, { cause: error });
  }
}

/** Asks, and goes where the server sends us, but nowhere without encryption from an address that has it. */
async function follow({ url, known }: DownloadRequest, signal: AbortSignal): Promise<Response> {
  const headers = {
    'user-agent': 'weir',
    ...(known?.etag && { 'if-none-match': known.etag }),
    ...(known?.lastModified && { 'if-modified-since': known.lastModified }),
  };
  let at = new URL(url);
  for (let redirects = 0; redirects <= MOST_REDIRECTS; redirects++) {
    const response = await fetch(at, { redirect: 'manual', headers, signal });
    const location = [301, 302, 303, 307, 308].includes(response.status) ? response.headers.get('location') : null;
    if (location === null) return response;
    await response.body?.cancel();
    const next = new URL(location, at);
    const isAllowed = next.protocol === 'https:' || (next.protocol === 'http:' && at.protocol === 'http:');
    if (!isAllowed) throw new WeirError('GEO_FILE', `it redirects from ${at.protocol}// to ${next.protocol}//`);
    at = next;
  }
  throw new WeirError('GEO_FILE', `it redirects more than ${MOST_REDIRECTS} times`);
}

/** A signal that ends a download when its time is over or `stop` says so. */
function startDeadlines({ idleMs, totalMs }: DownloadLimits, stop: AbortSignal) {
  const controller = new AbortController();
  const end = (text: string) => controller.abort(new WeirError('GEO_FILE', text));
  const total = setTimeout(end, totalMs, `it takes longer than ${totalMs / 1000} s`);
  const idle = setTimeout(end, idleMs, `nothing has come for ${idleMs / 1000} s`);
  return {
    signal: AbortSignal.any([controller.signal, stop]),
    /** A piece has come. */
    heard: () => void idle.refresh(),
    [Symbol.dispose]() {
      clearTimeout(total);
      clearTimeout(idle);
    },
  };
}

/** What went wrong, in words: those of the system stand at the bottom of fetch's own. */
function reasonOf(error: unknown): string {
  const { cause, message, code } = error as Error & { readonly code?: string };
  if (cause instanceof AggregateError) return cause.errors.map(reasonOf).join(', ');
  return cause === undefined ? message || code || String(error) : reasonOf(cause);
}
