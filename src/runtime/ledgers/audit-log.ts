/** SPEC D16.3. */
import { within } from '../../clock.ts';
import type { Log } from '../../ports/log.ts';
import type { AuditLogRow, AuditReads } from '../../ports/stored/audit.ts';

/** ms */
const EVERY = 5_000;
/** Of the last read, ms. */
const LAST = 1_000;
/** Rows per read. */
const MOST = 1_000;
/** Read again: a row may become visible after later ones. */
const OVERLAP = 100;

/** Returns a stop function with a last read. */
export function startAuditLog(store: AuditReads, log: Log): () => Promise<void> {
  /** The first read logs nothing. */
  let newest: number | undefined;
  let seen = new Set<number>();

  async function look(): Promise<void> {
    const from = newest ?? (await store.newestAudit());
    const rows = await store.auditSince(from - OVERLAP, MOST);
    const fresh = rows.filter(({ id }) => !seen.has(id));
    if (newest !== undefined) for (const row of fresh) log('info', lineOf(row));
    const last = Math.max(from, ...rows.map(({ id }) => id));
    newest = last;
    seen = new Set([...seen, ...fresh.map(({ id }) => id)].filter((id) => id > last - OVERLAP));
  }

  // Others report store failures; the rows remain.
  let looking = look().catch(() => {});
  const again = () => {
    looking = looking.then(look).catch(() => {});
    return looking;
  };
  const timer = setInterval(() => void again(), EVERY).unref();
  return () => {
    clearInterval(timer);
    return within(again(), LAST, 'the store').catch(() => {});
  };
}

function lineOf({ event, object, by: { keyId, actor, personId } }: AuditLogRow): string {
  const author = [
    ...(keyId === null ? [] : [`key ${keyId}`]),
    ...(actor === null ? [] : [JSON.stringify(actor)]),
    ...(personId ? [JSON.stringify(personId)] : []),
  ];
  return `${event}: ${object}${author.length === 0 ? '' : ` (by ${author.join(', ')})`}`;
}
