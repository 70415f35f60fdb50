/** Audit events for log collectors: JSON lines with the names of OCSF 1.3, class Entity Management (SPEC D59). */
import { appendFileSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import about from '../../../package.json' with { type: 'json' };
import type { Log } from '../../ports/log.ts';
import type { AuditLogRow, AuditReads } from '../../ports/stored/audit.ts';

/** ms */
const EVERY = 1_000;
/** Rows may become visible out of order for so long, the limit of a transaction, ms. */
const SETTLED = 120_000;
/** New rows per read. */
const MOST = 1_000;

interface Position {
  /** All rows to this one are written. */
  readonly settled: number;
  /** Written rows after it. */
  readonly seen: readonly number[];
}

interface Target {
  /** A file; -: `stdout`. */
  readonly path: string;
  readonly dataDir: string;
  readonly stdout: NodeJS.WritableStream;
}

/** At least once; the position is a file of DATA_DIR. Returns a stop function with a last look. */
export function startAuditExport(store: AuditReads, target: Target, now: () => number, log: Log): () => Promise<void> {
  const file = join(target.dataDir, 'audit-log.json');
  let position = readPosition(file);
  let failed = false;

  async function look(): Promise<void> {
    for (let more = true; more; ) {
      const seen = new Set(position.seen);
      const rows = await store.auditSince(position.settled, seen.size + MOST);
      const fresh = rows.filter(({ id }) => !seen.has(id));
      if (fresh.length === 0) return;
      // A failed write may have ended within a line.
      write(target, (failed ? '\n' : '') + fresh.map((row) => `${JSON.stringify(ocsfOf(row))}\n`).join(''));
      position = after(position, rows, now());
      writeFileSync(`${file}.new`, JSON.stringify(position));
      renameSync(`${file}.new`, file);
      if (failed) log('info', `audit events are written to ${target.path} again`);
      failed = false;
      more = fresh.length >= MOST;
    }
  }

  const looked = () =>
    look().catch((error: Error) => {
      if (!failed) log('error', `audit events cannot be written to ${target.path}, and are written later: ${error.message}`);
      failed = true;
    });
  let looking = looked();
  const again = () => {
    looking = looking.then(looked);
    return looking;
  };
  const timer = setInterval(() => void again(), EVERY).unref();
  return () => {
    clearInterval(timer);
    return again();
  };
}

function readPosition(file: string): Position {
  try {
    const { settled, seen } = JSON.parse(readFileSync(file, 'utf8')) as Position;
    if (Number.isSafeInteger(settled) && Array.isArray(seen)) return { settled, seen };
  } catch {}
  return { settled: 0, seen: [] };
}

function write({ path, stdout }: Target, lines: string): void {
  if (path === '-') return void stdout.write(lines);
  mkdirSync(dirname(path), { recursive: true });
  // Opened each time: logrotate may have moved it.
  appendFileSync(path, lines, { mode: 0o640 });
}

function after({ settled }: Position, rows: readonly AuditLogRow[], now: number): Position {
  const unsettled = rows.findIndex(({ at }) => at > now - SETTLED);
  const end = unsettled < 0 ? rows.length : unsettled;
  return { settled: rows[end - 1]?.id ?? settled, seen: rows.slice(end).map(({ id }) => id) };
}

const ACTIVITIES: Readonly<Record<string, readonly [id: number, name: string]>> = {
  created: [1, 'Create'],
  restored: [1, 'Create'],
  changed: [3, 'Update'],
  applied: [3, 'Update'],
  deleted: [4, 'Delete'],
  revoked: [4, 'Delete'],
};
const CLASS = 3004;

function ocsfOf({ id, at, event, object, by, workspaceId, change }: AuditLogRow): object {
  const [activity, name] = ACTIVITIES[event.slice(event.lastIndexOf(' ') + 1)] ?? [99, 'Other'];
  const { keyId, actor, personId, act } = by;
  const uid = keyId ?? personId;
  return {
    class_uid: CLASS,
    class_name: 'Entity Management',
    category_uid: 3,
    category_name: 'Identity & Access Management',
    activity_id: activity,
    activity_name: name,
    type_uid: CLASS * 100 + activity,
    severity_id: 1,
    severity: 'Informational',
    time: at,
    message: event,
    metadata: {
      version: '1.3.0',
      uid: String(id),
      log_name: 'audit',
      product: { name: 'weir', vendor_name: 'weir', version: about.version },
    },
    actor: { user: { ...(uid != null && { uid }), name: actor ?? personId ?? 'weir' } },
    entity: { type: event.slice(0, event.lastIndexOf(' ')), uid: object },
    unmapped: { workspace: workspaceId, act: act ?? null, change },
  };
}
