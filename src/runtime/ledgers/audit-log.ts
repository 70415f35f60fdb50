/** A line of the log for each change of keys, lists, feeds and workspaces, whoever made it (SPEC D16.3): the audit log is read as it grows. */
import { within } from '../../clock.ts';
import type { Log } from '../../ports/log.ts';
import type { AuditEvent, AuditReads } from '../../ports/stored/audit.ts';

/** How often it looks, ms. */
const EVERY = 5_000;
/** How long the last look may take, ms. */
const LAST = 1_000;
/** Rows that one look reads at most. */
const MOST = 1_000;
/** A row may become visible after later ones: so many before the newest are looked at again. */
const OVERLAP = 100;

/** Begins to log what is written from now on. Returns the function that ends this with a last look. */
export function startAuditLog(store: AuditReads, log: Log): () => Promise<void> {
  /** The newest row that was seen, and the last ones before it; undefined until the first look has read them, which logs nothing. */
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

  // A store that is away is told of by others; its rows are there when it is back.
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

function lineOf({ event, object, keyId, actor, personId }: AuditEvent): string {
  const who = [
    ...(keyId === null ? [] : [`key ${keyId}`]),
    ...(actor === null ? [] : [JSON.stringify(actor)]),
    ...(personId ? [JSON.stringify(personId)] : []),
  ];
  return `${event}: ${object}${who.length === 0 ? '' : ` (by ${who.join(', ')})`}`;
}
