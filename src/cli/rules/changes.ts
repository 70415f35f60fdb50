/** `weir changes` (SPEC D32). */
import type { ChangesJson } from '../../manage/changes/changes.ts';
import type { EntryJson } from '../../manage/changes/entry.ts';
import { countText } from '../../text/count.ts';
import { table } from '../context.ts';
import { type AnyRow, type Call, row } from '../rows/row.ts';
import { wholeNumber } from '../usage.ts';
import { SINCE_RULE } from './selection.ts';

export const CHANGES_ROWS: readonly AnyRow[] = [
  row<ChangesJson>({
    words: 'changes [feed]',
    operation: 'listChanges',
    summary: 'show all changes in one timeline, newest first: rules, sources, settings, lists and keys; of a feed or list what concerns it',
    options: {
      since: { help: `since: ${SINCE_RULE}`, fallback: '1d' },
      until: { help: 'until, as --since; now when absent' },
      list: { help: 'only what concerns this list' },
    },
    flags: { '--limit <number>': 'how many at most (default: 200)' },
    run: allChanges,
    show: changesText,
  }),
];

/** Entries in a request. */
const PAGE = 1000;

async function allChanges({ client, given, options }: Call): Promise<ChangesJson> {
  const limit = wholeNumber('--limit', 1, 100_000)(options.limit ?? '200');
  const changes: EntryJson[] = [];
  for (let after: string | undefined; ; ) {
    const page = await client.call<ChangesJson>('listChanges', { ...given, after, limit: Math.min(PAGE, limit - changes.length) });
    changes.push(...page.changes);
    if (page.next === null || changes.length >= limit) return { ...page, changes };
    after = page.next;
  }
}

function changesText({ changes, known_since: known, since, next }: ChangesJson): string {
  const late = [
    ['changes of rules', known.rules],
    ['settings, lists and keys', known.settings],
    ['refreshes that failed or were put on hold', known.refreshes],
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
