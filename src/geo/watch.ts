import { hasCode, WeirError } from '../errors.ts';
import { oneByOne } from '../serial.ts';
import { isAccepted } from './accept.ts';
import type { GeoData, GeoKindData } from './data.ts';
import { GEO_KINDS, type GeoKind, KINDS } from './kind.ts';
import { combine, loadSources } from './load.ts';
import { shrinkFault } from './shrink.ts';
import { findSources, type GeoFiles, originOf, sourcesLabel } from './sources.ts';

const POLL_MS = 2_000;

interface GeoWatchOptions {
  readonly files: GeoFiles;
  readonly data: GeoData;
  /** Of compiled data. */
  readonly cacheDir?: string;
  /** ms. A change counts after two checks with the same state. */
  readonly pollMs?: number;
  readonly onChange: (data: GeoData) => void;
  /** A sentence about every reload; `refused`: the data in use stays. */
  readonly log: (outcome: 'reloaded' | 'refused', text: string) => void;
}

interface Watched {
  data: GeoKindData;
  /** At the previous check. */
  seen: string;
  /** Of the last load, successful or not; marked if an operator had accepted it. */
  tried: string;
}

/**
 * Polls, because editors and mounts replace files in ways that file notifications miss. Waits until a file stops changing: a half-copied
 * file may look complete.
 */
export function watchGeo({ files, data, cacheDir, pollMs = POLL_MS, onChange, log }: GeoWatchOptions) {
  const kinds = GEO_KINDS.filter((kind) => files[kind] !== undefined || files.downloads !== undefined);
  const watched = { country: startOf(data.country), asn: startOf(data.asn) };
  let inUse = data;
  let closed = false;
  const inTurn = oneByOne();
  let timer: NodeJS.Timeout | undefined;

  const explain = (error: Error): void => log('refused', `${error.message}; the data loaded before stay in use`);

  const check = async (kind: GeoKind, isForced: boolean): Promise<void> => {
    const state = watched[kind];
    const { signature, load } = await inspect(state.data, files, cacheDir, isForced);
    const isSettled = isForced || signature === state.seen;
    state.seen = signature;
    const accepted = signature !== state.data.signature && (await isAccepted(cacheDir, kind, signature));
    const trial = accepted ? `${signature}, accepted` : signature;
    const isTried = isForced ? signature === state.data.signature : trial === state.tried;
    if (isTried || !isSettled) return;
    state.tried = trial;
    try {
      const next = await load();
      const fault = accepted ? undefined : shrinkFault(state.data, next);
      if (fault !== undefined) throw new WeirError('GEO_FILE', fault);
      state.data = next;
    } catch (error) {
      explain(error as Error);
    }
  };

  const checkAll = async (isForced: boolean): Promise<void> => {
    for (const kind of kinds) await check(kind, isForced);
    const next = combine(watched.country.data, watched.asn.data);
    if (closed || next.version === inUse.version) return;
    const before = inUse;
    inUse = next;
    onChange(next);
    log('reloaded', `geo data reloaded: ${GEO_KINDS.map((kind) => swapText(before[kind], next[kind])).join('; ')}`);
  };
  const enqueue = (isForced: boolean): Promise<void> => inTurn(async () => (closed ? undefined : checkAll(isForced)));
  const schedule = (): void => {
    if (closed) return;
    timer = setTimeout(() => void enqueue(false).catch(explain).finally(schedule), pollMs);
    timer.unref();
  };

  if (kinds.length > 0) schedule();
  return {
    /** SIGHUP: also retries refused ones. Resolves when the new data is in use or refused. */
    reload: () => enqueue(true),
    close() {
      closed = true;
      clearTimeout(timer);
    },
  };
}

/** Compares day, rows and keys. */
function swapText(before: GeoKindData, next: GeoKindData): string {
  const { plural } = KINDS[next.kind];
  if (before === next) return `${next.kind} of ${next.date} as before`;
  return `${next.kind} of ${next.date}, ${before.rows} → ${next.rows} rows, ${before.keys} → ${next.keys} ${plural}`;
}

const startOf = (data: GeoKindData): Watched => ({ data, seen: data.signature, tried: data.signature });

/**
 * How to load a kind's files. A missing file is a state too: loading it rejects. Unless forced, the files in use must still exist: a twin
 * missing while files are exchanged would otherwise remove its family from every feed.
 */
async function inspect(inUse: GeoKindData, files: GeoFiles, cacheDir: string | undefined, isForced: boolean) {
  try {
    // Packages do not change while weir runs.
    const isAsBefore = inUse.origin === 'packaged' && (await originOf(inUse.kind, files)) === 'packaged';
    if (isAsBefore) return { signature: inUse.signature, load: async () => inUse };
    const sources = await findSources(inUse.kind, files);
    const required = isForced || inUse.origin === 'packaged' ? [] : inUse.files;
    const missing = required.find((file) => !sources.files.includes(file));
    if (missing !== undefined)
      throw new WeirError(
        'GEO_FILE',
        `${sourcesLabel(inUse)}: ${missing}: this file is missing; use SIGHUP or a restart to continue without it`,
      );
    return { signature: sources.signature, load: () => loadSources(sources, cacheDir) };
  } catch (error) {
    if (!hasCode(error, 'GEO_FILE')) throw error;
    return { signature: error.message, load: () => Promise.reject(error) };
  }
}
