/** `weir audit` (SPEC D15.53). */
import { auditJson, isWanted } from '../../manage/audit.ts';
import { AUDIT_RETENTION } from '../../ports/stored/account-store.ts';
import { everyItem } from '../../ports/stored/paginate.ts';
import { inWords } from '../../text/duration.ts';
import type { Fields } from '../client/client.ts';
import { openClient } from '../client/open.ts';
import type { AddCommand } from '../command.ts';
import { type Context, table } from '../context.ts';
import { SINCE_RULE, sinceOf } from '../rules/selection.ts';
import { wholeNumber } from '../usage.ts';

type Row = ReturnType<typeof auditJson>;

export function auditCommands(add: AddCommand): void {
  add(
    'audit ls',
    `list who changed what in the last ${inWords(AUDIT_RETENTION)}, newest first`,
    (c) =>
      c
        .option('--workspace <workspace>', 'of this workspace; without it: what belongs to none, such as organizations')
        .option('--event <words>', 'events that have these words, such as "list deleted" or "key"')
        .option('--by <name>', 'what this person (the whole name) or system user did')
        .option('--key <key>', 'what was done with this key, by its id or name')
        .option('--object <object>', 'what was done to this object, by its id or name, or in this act')
        .option('--since <time>', `since: ${SINCE_RULE}`, sinceOf)
        .option('--limit <count>', 'how many at most', wholeNumber('--limit', 1, 1_000_000), 100),
    {
      isOperation: true,
      async run(context, _args, { workspace, event, by, key, object, since, limit }): Promise<Row[]> {
        if (workspace === undefined && context.url === undefined) return ofNoWorkspace(context, { event, by, object, since }, limit);
        const client = await openClient(context, { workspace, writes: false, anywhere: undefined });
        return client.items<Row>('listAudit', { event, by, key, object, since }, limit);
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

/** Rows without a workspace. */
async function ofNoWorkspace(context: Context, { since, ...wanted }: Fields, limit: number): Promise<Row[]> {
  const store = await context.reads();
  const named = [...(await store.organizations()), ...(await store.workspaces())].map(({ id, name }) => [id, name] as const);
  const names = { keys: new Map<string, string>(), objects: new Map(named) };
  const found: Row[] = [];
  for await (const row of everyItem((page) => store.auditPage(null, page))) {
    if (since !== undefined && row.at < Date.parse(String(since))) break;
    const json = auditJson(row, names);
    if (isWanted(row, json.name, wanted)) found.push(json);
    if (found.length === limit) break;
  }
  return found;
}

const withNames = (text: string, names: Readonly<Record<string, string>>): string =>
  Object.entries(names).reduce((named, [id, name]) => named.replaceAll(id, name), text);
