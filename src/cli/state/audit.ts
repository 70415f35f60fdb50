/** `weir audit`: who changed what (SPEC D15.53). */

import { type AuditNames, auditJson, auditNames } from '../../manage/audit-json.ts';
import { isWanted } from '../../manage/audit-search.ts';
import { findKeyNamed } from '../../manage/find.ts';
import type { StoreReads } from '../../ports/store.ts';
import { AUDIT_KEPT } from '../../ports/stored/account-store.ts';
import { everyItem } from '../../ports/stored/paginate.ts';
import { inWords } from '../../text/duration.ts';
import type { AddCommand } from '../command.ts';
import { table, workspaceIn } from '../context.ts';
import { sinceOf } from '../rules/conditions.ts';
import { wholeNumber } from '../usage.ts';

export function auditCommands(add: AddCommand): void {
  add(
    'audit ls',
    `list who changed what in the last ${inWords(AUDIT_KEPT)}, newest first`,
    (c) =>
      c
        .option('--workspace <workspace>', 'of this workspace; without it: what belongs to none, such as organizations')
        .option('--event <words>', 'events that have these words, such as "list deleted" or "key"')
        .option('--by <name>', 'what this person (the whole name) or system user did')
        .option('--key <key>', 'what was done with this key, by its id or name')
        .option('--object <object>', 'what was done to this object, by its id or name, or in this act')
        .option('--since <time>', 'since: an instant such as 2026-11-22T08:00:00Z, or how long ago, such as 2h', sinceOf)
        .option('--limit <count>', 'at most so many', wholeNumber('--limit', 1, 1_000_000), 100),
    {
      async run(context, _args, { workspace: given, key, limit, ...wanted }) {
        const store = await context.reads();
        const workspace = given === undefined ? null : (await workspaceIn(context, store, given)).id;
        const names = await namesIn(store, workspace);
        const keyId = key === undefined || workspace === null ? undefined : (await findKeyNamed(store, workspace, key)).id;
        const found = [];
        for await (const row of everyItem((page) => store.auditPage(workspace, page))) {
          if (wanted.since !== undefined && row.at < wanted.since) break;
          const shown = auditJson(row, names);
          if (isWanted(row, shown.name, { ...wanted, keyId })) found.push(shown);
          if (found.length === limit) break;
        }
        return found;
      },
      show: (rows) =>
        table(['AT', 'EVENT', 'WHAT', 'BY', 'KEY', 'CHANGE'], rows, ({ actor, person, before, after, ...row }) => [
          row.at,
          row.event,
          row.name ?? row.object,
          actor === null || person === null ? actor : `${actor} (${person})`,
          row.key_name ?? row.key_id,
          before === null && after === null ? null : withNames(`${JSON.stringify(before)} → ${JSON.stringify(after)}`, row.names),
        ]),
    },
  );
}

/** Names of what is in the log of a workspace; without one those of organizations and workspaces. */
async function namesIn(store: StoreReads, workspace: string | null): Promise<AuditNames> {
  if (workspace !== null) return auditNames(store, workspace);
  const whole = [...(await store.organizations()), ...(await store.workspaces())].map(({ id, name }) => [id, name] as const);
  return { keys: new Map(), objects: new Map(whole) };
}

/** A text with the names of the ids in it. */
const withNames = (text: string, names: Readonly<Record<string, string>>): string =>
  Object.entries(names).reduce((named, [id, name]) => named.replaceAll(id, name), text);
