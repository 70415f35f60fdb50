/** `weir audit`: who changed what (SPEC D15.53). */
import { isoTime } from '../../clock.ts';
import { findKeyNamed } from '../../manage/find.ts';
import { feedNamesIn } from '../../manage/rules/rule-json.ts';
import type { AuditRow, Page } from '../../ports/account-store.ts';
import type { StoreReads } from '../../ports/store.ts';
import type { AddCommand } from '../command.ts';
import { printable, table, workspaceId } from '../context.ts';
import { sinceOf } from '../rules/conditions.ts';
import { wholeNumber } from '../usage.ts';

/** Rows that one read asks for. */
const PAGE = 1000;

interface Wanted {
  readonly event?: string;
  readonly by?: string;
  readonly keyId?: string | undefined;
  readonly object?: string;
  /** ms */
  readonly since?: number;
}

export function auditCommands(add: AddCommand): void {
  add(
    'audit ls',
    'list who changed what in the last 90 days, newest first',
    (c) =>
      c
        .option('--workspace <workspace>', 'of this workspace; without it: what belongs to none, such as organizations')
        .option('--event <words>', 'events that have these words, such as "list deleted" or "key"')
        .option('--by <name>', 'what this person or system user did')
        .option('--key <key>', 'what was done with this key, by its id or name')
        .option('--object <object>', 'what was done to this object, by its id or name')
        .option('--since <time>', 'since: an instant such as 2026-11-22T08:00:00Z, or how long ago, such as 2h', sinceOf)
        .option('--limit <count>', 'at most so many', wholeNumber('--limit', 1, 1_000_000), 100),
    {
      async run(context, _args, { workspace: given, key, limit, ...wanted }) {
        const store = await context.reads();
        const workspace = given === undefined ? null : await workspaceId(store, given);
        const names = await objectNames(store, workspace);
        const keyId = key === undefined || workspace === null ? undefined : (await findKeyNamed(store, workspace, key)).id;
        const found = [];
        for await (const row of auditRows(store, workspace)) {
          if (wanted.since !== undefined && row.at < wanted.since) break;
          const shown = named(row, names);
          if (isWanted(row, shown.name, { ...wanted, keyId })) found.push(shown);
          if (found.length === limit) break;
        }
        return found;
      },
      show: (rows) =>
        table(
          ['AT', 'EVENT', 'WHAT', 'BY', 'KEY', 'CHANGE'],
          rows.map(({ at, event, name, object, actor, person, key_name, key_id, before, after }) => [
            at,
            event,
            printable(name ?? object),
            actor === null ? null : printable(person === null ? actor : `${actor} (${person})`),
            key_name === null ? key_id : printable(key_name),
            before === null && after === null ? null : printable(`${JSON.stringify(before)} → ${JSON.stringify(after)}`),
          ]),
        ),
    },
  );
}

async function* auditRows(store: Pick<StoreReads, 'auditPage'>, workspace: string | null): AsyncGenerator<AuditRow> {
  for (let after: string | null = null; ; ) {
    const { items, next }: Page<AuditRow> = await store.auditPage(workspace, { after, limit: PAGE });
    yield* items;
    if (next === null) return;
    after = next;
  }
}

interface ObjectNames {
  readonly keys: ReadonlyMap<string, string>;
  readonly objects: ReadonlyMap<string, string>;
}

/** What ids are called: lists, feeds, keys and the workspace itself; without a workspace organizations. */
async function objectNames(store: StoreReads, workspace: string | null): Promise<ObjectNames> {
  const whole = [...(await store.organizations()), ...(await store.workspaces())].map(({ id, name }) => [id, name] as const);
  if (workspace === null) return { keys: new Map(), objects: new Map(whole) };
  const { keys, feeds } = await feedNamesIn(store, workspace);
  return { keys, objects: new Map([...whole, ...feeds, ...keys]) };
}

function named({ id, at, event, object, by, change }: AuditRow, { keys, objects }: ObjectNames) {
  // What is gone had a name when it went.
  const was = change?.before?.name ?? change?.after?.name;
  return {
    id,
    at: isoTime(at),
    event,
    object,
    name: objects.get(object) ?? (typeof was === 'string' ? was : null),
    actor: by.actor,
    person: by.personId ?? null,
    key_id: by.keyId,
    key_name: keys.get(by.keyId ?? '') ?? null,
    before: change?.before ?? null,
    after: change?.after ?? null,
  };
}

const isWanted = (row: AuditRow, name: string | null, { event, by, keyId, object }: Wanted): boolean =>
  (event === undefined || row.event.includes(event)) &&
  (by === undefined || row.by.actor === by || row.by.personId === by) &&
  (keyId === undefined || row.by.keyId === keyId) &&
  (object === undefined || row.object === object || name === object);
