/** SPEC D17.1 to D17.6. */
import { type FileHandle, mkdir, open, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { WeirError } from '../errors.ts';
import type { Validators } from '../fetch/fetch.ts';
import type { GeoData, GeoKindData } from './data.ts';
import { type Downloaded, type DownloadLimits, download, downloadText } from './download.ts';
import { GEO_KINDS, type GeoKind, KINDS } from './kind.ts';
import { loadSources } from './load.ts';
import { shrinkFault } from './shrink.ts';
import { downloadedFile, type GeoFiles, sourcesOf } from './sources.ts';
import { type KindUpdate, type KnownDownload, readUpdateState, type UpdateState, writeUpdateState } from './update-state.ts';

/** Rows per family: no table of the full Internet has fewer. */
const LEAST_ROWS = 10_000;

/** Optional, in the format of `sha256sum`. */
const CHECKSUMS = 'SHA256SUMS';

export interface UpdateRequest {
  /** Base address of the published files. */
  readonly url: string;
  /** `GeoFiles.downloads`. */
  readonly folder: string;
  readonly kinds: readonly GeoKind[];
  readonly inUse: GeoData;
  readonly limits: DownloadLimits;
  /** Aborts the update without a change. */
  readonly signal: AbortSignal;
  /** The wall clock, ms since 1970. */
  readonly now: () => number;
}

/** Kinds without an operator's file. */
export const updatedKinds = (files: GeoFiles): GeoKind[] => GEO_KINDS.filter((kind) => files[kind] === undefined);

/** Being checked, refused, or on hold. */
const waitingFile = (folder: string, kind: GeoKind) => join(folder, `${kind}.new.csv`);

/**
 * A fault is the result of its kind. One update may run on a folder at a time. Rejects when the folder is not writable, or `signal` aborts
 * it.
 */
export async function updateGeo(request: UpdateRequest): Promise<UpdateState> {
  const { folder, kinds, now } = request;
  const triedAt = now();
  await mkdir(folder, { recursive: true, mode: 0o700 }).catch((error: Error) => {
    throw new WeirError('GEO_FILE', `${folder} cannot be made: ${error.message}`);
  });
  const before = await readUpdateState(folder);
  const checksums = checksumsOf(request);
  // Written before the download: if this data crashes the process, the next process does not retry immediately.
  await writeUpdateState(folder, { triedAt, kinds: unended(kinds, before) });
  const updates: Partial<Record<GeoKind, KindUpdate>> = {};
  for (const kind of kinds) updates[kind] = await updateKind(kind, request, before?.kinds[kind], checksums);
  const state = { triedAt, kinds: updates };
  await writeUpdateState(folder, state);
  return state;
}

/** Preserves the reason of a hold. */
function unended(kinds: readonly GeoKind[], before: UpdateState | undefined): UpdateState['kinds'] {
  const each = (last: KindUpdate | undefined): KindUpdate => {
    const download = last?.download ?? null;
    return { result: 'failed', text: download?.isHeld ? last!.text : 'it has not ended', download };
  };
  return Object.fromEntries(kinds.map((kind) => [kind, each(before?.kinds[kind])]));
}

/** Returns their kinds. */
export async function acceptDownloads(folder: string): Promise<GeoKind[]> {
  const state = await readUpdateState(folder);
  const accepted: GeoKind[] = [];
  const kinds = { ...state?.kinds };
  for (const kind of GEO_KINDS) {
    const known = kinds[kind]?.download;
    if (!known?.isHeld || !(await isThere(known, kind, folder))) continue;
    await rename(waitingFile(folder, kind), downloadedFile(folder, kind));
    kinds[kind] = { result: 'new', text: 'accepted', download: { ...known, isHeld: false } };
    accepted.push(kind);
  }
  if (state !== undefined && accepted.length > 0) await writeUpdateState(folder, { ...state, kinds });
  return accepted;
}

async function updateKind(
  kind: GeoKind,
  request: UpdateRequest,
  before: KindUpdate | undefined,
  checksums: Checksums,
): Promise<KindUpdate> {
  const { folder, inUse, signal } = request;
  const waiting = waitingFile(folder, kind);
  const known = await knownDownload(kind, request, before);
  try {
    const validators = await fetchKind(kind, request, known?.validators, checksums);
    if (validators === undefined) {
      return known!.isHeld ? { result: 'held', text: before!.text, download: known } : { result: 'unchanged', text: '', download: known };
    }
    const next = await loadSources(await sourcesOf(kind, 'downloaded', waiting), undefined);
    const download = { validators, mark: await fileMark(waiting) };
    const fault = shrinkFault(inUse[kind], next);
    if (fault !== undefined) return { result: 'held', text: fault, download: { ...download, isHeld: true } };
    signal.throwIfAborted();
    await rename(waiting, downloadedFile(folder, kind));
    return { result: 'new', text: countText(next), download: { ...download, isHeld: false } };
  } catch (error) {
    if (signal.aborted) throw error;
    return { result: 'failed', text: (error as Error).message, download: known };
  }
}

const countText = ({ kind, date, rows, keys }: GeoKindData) => `data of ${date}, ${rows} rows, ${keys} ${KINDS[kind].plural}`;

/** If its file is unchanged and still in use or on hold: enables conditional requests. */
async function knownDownload(
  kind: GeoKind,
  { folder, inUse }: UpdateRequest,
  before: KindUpdate | undefined,
): Promise<KnownDownload | null> {
  const known = before?.download ?? null;
  const isUsed = known !== null && (known.isHeld || inUse[kind].origin === 'downloaded') && (await isThere(known, kind, folder));
  return isUsed ? known : null;
}

const isThere = async ({ mark, isHeld }: KnownDownload, kind: GeoKind, folder: string): Promise<boolean> =>
  mark === (await fileMark((isHeld ? waitingFile : downloadedFile)(folder, kind)).catch(() => undefined));

/** Changes with another file. */
async function fileMark(file: string): Promise<string> {
  const { size, mtimeMs } = await stat(file);
  return `${size} ${mtimeMs}`;
}

/** Fetches concatenated files into the waiting file. Returns validators; undefined: none has changed. Rejects with GEO_FILE. */
async function fetchKind(
  kind: GeoKind,
  request: UpdateRequest,
  known: readonly Validators[] | undefined,
  checksums: Checksums,
): Promise<Validators[] | undefined> {
  const { url, folder, limits, signal } = request;
  let file: FileHandle | undefined;
  const toFile = async () => {
    file ??= await open(waitingFile(folder, kind), 'w', 0o600);
    return file;
  };
  try {
    const found: (Downloaded | undefined)[] = [];
    for (const [i, name] of KINDS[kind].published.entries()) {
      const fetched = await download({ url: `${url}/${name}`, known: known?.[i], limits, signal }, toFile);
      if (fetched !== undefined) await check(fetched, `${url}/${name}`, await checksums(name));
      found.push(fetched);
    }
    const fetched = found.filter((each) => each !== undefined);
    if (fetched.length === 0) return undefined;
    // If one part has changed, the unchanged parts are needed too.
    if (fetched.length < found.length) return await fetchKind(kind, request, undefined, checksums);
    const times = fetched.map(({ validators }) => Date.parse(validators.lastModified ?? '')).filter((time) => time > 0);
    if (times.length > 0) await file!.utimes(Math.min(...times) / 1000, Math.min(...times) / 1000);
    await file!.sync();
    return fetched.map(({ validators }) => validators);
  } finally {
    await file?.close();
  }
}

/** Checks before reading. Throws GEO_FILE. */
function check({ lines, isComplete, sha256 }: Downloaded, url: string, expected: string | undefined): void {
  const fault =
    (!isComplete && 'it ends within a line') ||
    (lines < LEAST_ROWS && `it has ${lines} lines, and no table of the whole Internet has under ${LEAST_ROWS}`) ||
    (expected !== undefined && expected !== sha256 && `its SHA-256 is ${sha256}, and ${CHECKSUMS} says ${expected}`);
  if (fault) throw new WeirError('GEO_FILE', `${url}: ${fault}`);
}

/** The publisher's checksum. */
type Checksums = (name: string) => Promise<string | undefined>;

function checksumsOf({ url, limits, signal }: UpdateRequest): Checksums {
  let reading: Promise<Map<string, string>> | undefined;
  const read = async () => {
    const text = await downloadText({ url: `${url}/${CHECKSUMS}`, limits, signal });
    return new Map((text ?? '').matchAll(/^([0-9a-f]{64}) [ *](.+?)\r?$/gim).map(([, sum, name]) => [name, sum.toLowerCase()]));
  };
  return async (name) => {
    reading ??= read();
    return (await reading).get(name);
  };
}
