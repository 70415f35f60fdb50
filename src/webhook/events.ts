/** Actions announced by webhooks (SPEC D27.3), read from the audit log and landed undos since the last position. */
import type { Author } from '../account/caller.ts';
import type { Announced, WebhookChange } from '../account/webhook.ts';
import type { AuditRow } from '../ports/stored/account-store.ts';
import type { Happened } from '../ports/stored/webhook-store.ts';

/** Text per event of the audit log; others are not announced. `{}`: the name of its subject. */
const EVENTS: Readonly<Record<string, string>> = {
  'list deleted': 'the list {} was deleted',
  'feed deleted': 'the feed {} was deleted',
  'feed frozen': 'the feed {} was frozen',
  'feed thawed': 'the feed {} was thawed',
  'feed canary started': 'a large change of the feed {} waits for its canaries',
  'feed canary stopped': 'the canary of the feed {} was stopped',
  'feed canary promoted': 'a large change of the feed {} is served to all keys',
  'source deleted': 'the source {} was deleted',
  'key created': 'the key {} was created',
  'keys restored': 'keys were added by an import',
  'webhook created': 'the webhook {} was created',
  'webhook changed': 'the webhook {} was changed',
  'webhook deleted': 'the webhook {} was deleted',
  'signing key created': 'a key that signs feeds was created ({})',
  'signing key deleted': 'a key that signs feeds was deleted ({})',
  'approval requested': 'approval of a change was requested ({})',
  'change approved': 'a change was approved ({})',
  'change forced': 'a change was applied without a second person ({})',
  'change rejected': 'a change was rejected ({})',
  'attention snoozed': 'an alert was snoozed ({})',
};

/** Rows may become visible out of order for this long, the limit of a transaction, ms. */
const SETTLED = 120_000;
/** Per message. */
const MOST = 200;

/** Name of a key or person in a sentence. */
export type NameOf = (by: Author) => string;

/** New changes, and the position after them. `now`: ms. */
export function happenedSince(
  position: Pick<Announced, 'audit' | 'seen' | 'seq'>,
  { audit, undone }: Happened,
  nameOf: NameOf,
  now: number,
): { readonly changes: readonly WebhookChange[]; readonly announced: Pick<Announced, 'audit' | 'seen' | 'seq'> } {
  const fresh = audit.filter(({ id, event }) => EVENTS[event] !== undefined && !position.seen.includes(id)).slice(0, MOST);
  const all = fresh.length < MOST;
  const seen = [...position.seen, ...fresh.map(({ id }) => id)];
  // Later rows, and rows that are not settled, are read again.
  const rows = all ? audit : audit.filter(({ id }) => id <= fresh.at(-1)!.id);
  const unsettled = rows.findIndex(({ at }) => at > now - SETTLED);
  const settled = (unsettled < 0 ? rows : rows.slice(0, unsettled)).at(-1)?.id ?? position.audit;
  const undos = undone.slice(0, MOST);
  return {
    changes: [...fresh.map((row) => ofAudit(row, nameOf)), ...undos.map((each) => ofUndo(each, nameOf))].toSorted((a, b) => a.at - b.at),
    announced: {
      audit: settled,
      seen: seen.filter((id) => id > settled),
      seq: undos.at(-1)?.seq ?? position.seq,
    },
  };
}

function ofAudit({ id, event, at, by, change }: AuditRow, nameOf: NameOf): WebhookChange {
  const name = change?.after?.name ?? change?.before?.name;
  const what = EVENTS[event]!.replace('{}', typeof name === 'string' ? JSON.stringify(name) : 'without a name');
  return { key: `audit/${id}`, is: 'happened', state: event.replaceAll(' ', '_'), text: `${what} by ${nameOf(by)}`, urgent: false, at };
}

const ofUndo = ({ seq, at, batch, by }: Happened['undone'][number], nameOf: NameOf): WebhookChange => ({
  key: `undo/${seq}`,
  is: 'happened',
  state: 'undone',
  text: `the batch ${batch} was undone by ${nameOf(by)}`,
  urgent: false,
  at,
});
