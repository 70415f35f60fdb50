/** `weir changes`: what has changed in a workspace (SPEC D32). */

import { type ChangesJson, changesJson } from '../../manage/changes/changes.ts';
import { CHANGE_KINDS, type EntryJson } from '../../manage/changes/entry.ts';
import type { Step } from '../../ports/stored/rule-store.ts';
import { countText } from '../../text/count.ts';
import type { AddCommand } from '../command.ts';
import { readsIn, table } from '../context.ts';
import { inWorkspace, oneOf, wholeNumber } from '../usage.ts';
import { inSpan } from './conditions.ts';

const MEBIBYTE = 1024 * 1024;
/** Entries that one read asks for. */
const PAGE = 1000;
const AT_ONCE: Step = (work) => work();

export function changesCommand(add: AddCommand): void {
  add(
    'changes [feed]',
    'what has changed: rules, sources, settings, lists and keys in one timeline, newest first; of one feed or list what concerns it',
    (c) =>
      inSpan(inWorkspace(c), 'since', 'until: as --since')
        .option('--list <list>', 'only what concerns this list')
        .option('--kind <kind>', CHANGE_KINDS.join(', '), oneOf('--kind', CHANGE_KINDS))
        .option('--limit <count>', 'at most so many', wholeNumber('--limit', 1, 100_000), 200),
    {
      async run(context, [feed], { workspace, limit, ...asked }) {
        const { store, workspace: id } = await readsIn(context, workspace);
        const how = { now: Date.now(), withAudit: true, room: context.config.maxAuditMb * MEBIBYTE, step: AT_ONCE };
        let after: string | null = null;
        const changes: EntryJson[] = [];
        for (;;) {
          const page: ChangesJson = await changesJson(
            store,
            id,
            { ...asked, feed, limit: Math.min(PAGE, limit - changes.length), ...(after !== null && { after }) },
            how,
          );
          changes.push(...page.changes);
          after = page.next;
          if (after === null || changes.length >= limit) return { ...page, changes };
        }
      },
      show: changesText,
    },
  );
}

function changesText({ changes, known_since: known, since, next }: ChangesJson): string {
  const late = [
    ['changes of rules', known.rules],
    ['settings, lists and keys', known.settings],
    ['refreshes that failed or were held back', known.refreshes],
  ].flatMap(([what, from]) => (from != null && since !== null && from > since ? `${what} are known since ${from}` : []));
  return [
    changes.length === 0 ? 'nothing has changed' : table(['AT', 'EVENT', 'WHERE', 'WHAT', 'BY'], changes, cellsOf),
    ...late,
    ...(next === null ? [] : ['there is more: --limit']),
  ].join('\n');
}

const cellsOf = (entry: EntryJson) => [
  entry.at,
  entry.event,
  entry.list_name ?? entry.name ?? entry.object ?? (entry.rule_kind === null ? '' : `${entry.rule_kind}s`),
  whatOf(entry),
  whoOf(entry),
];

const COUNTS = ['added', 'renewed', 'removed', 'expired'] as const;

/** What happened, in words. */
function whatOf(entry: EntryJson): string {
  const { reason, several_reasons: several, text, before, after, names } = entry;
  if (entry.from !== null || text !== null) {
    const counts = COUNTS.flatMap((name) => (entry[name] ? `${countText(entry[name])} ${name}` : [])).join(', ');
    return [counts, text ?? (several ? '(not one reason for all)' : reason === null ? '' : `(${reason})`)]
      .filter((part) => part !== '')
      .join(' ');
  }
  if (before === null && after === null) return '';
  const told = `${JSON.stringify(before)} → ${JSON.stringify(after)}`;
  return Object.entries(names).reduce((named, [id, name]) => named.replaceAll(id, name), told);
}

const whoOf = ({ actor, key_name: key, key_id: id, kind, person }: EntryJson): string =>
  actor !== null ? (person === null ? actor : `${actor} (${person})`) : (key ?? id ?? (kind === 'sources' ? 'its source' : ''));
