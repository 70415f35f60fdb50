/** `weir source add --recommended`: never-block lists of the catalogue, tried first (SPEC D62.7). */
import { hasCode } from '../../errors.ts';
import type { SourceJson } from '../../manage/sources/source-json.ts';
import { CATALOGUE } from '../../source/catalogue.ts';
import type { TryReport } from '../../source/try-source.ts';
import { countText, plural } from '../../text/count.ts';
import { confirm } from '../confirm.ts';
import { printable } from '../context.ts';
import type { Call } from '../rows/row.ts';

export interface Recommended {
  /** `fault`: why it was not added; null: it was. */
  readonly recommended: readonly TryReport[];
}

/** Tries those that are not sources yet, asks, and adds the usable ones. */
export async function addRecommended({ client, context, options }: Call): Promise<Recommended> {
  const sources = await client.items<SourceJson>('listSources', {});
  const known = new Set(sources.map(({ catalogue }) => catalogue));
  const rows = CATALOGUE.filter(({ name, isRecommended }) => isRecommended && !known.has(name));
  const tried: TryReport[] = [];
  for (const { name } of rows) tried.push(await orFault(name, () => client.call<TryReport>('trySource', { catalogue: name })));
  const usable = tried.filter(({ fault }) => fault === null);
  if (usable.length > 0)
    await confirm(
      context,
      `${recommendedText(tried)}\n\nadd ${plural(usable.length, 'never-block source', 'never-block sources')}?`,
      options.yes,
    );
  const recommended: TryReport[] = [];
  for (const report of tried) {
    const { name } = report;
    const add = async () => ({ ...report, list_id: (await client.call<SourceJson>('createSource', { catalogue: name })).list_id });
    recommended.push(report.fault === null ? await orFault(name, add) : report);
  }
  if (recommended.some(({ fault }) => fault !== null)) context.exitCode = 1;
  return { recommended };
}

/** A refusal is the fault of this row only. */
async function orFault(name: string, work: () => Promise<TryReport>): Promise<TryReport> {
  try {
    return await work();
  } catch (error) {
    if (!hasCode(error, 'REFUSED') && !hasCode(error, 'LIMITED') && !hasCode(error, 'USAGE')) throw error;
    const { url } = CATALOGUE.find((row) => row.name === name)!;
    return { name, url, purpose: 'allow', list_id: null, fault: error.message, content: null, trial: null };
  }
}

export function recommendedText(reports: readonly TryReport[]): string {
  if (reports.length === 0) return 'all recommended never-block sources of the catalogue are sources of this workspace';
  const lines = reports.flatMap(({ name, fault, content, trial }) =>
    content === null || trial === null || fault !== null
      ? [`${name}: cannot be added: ${printable(String(fault))}`]
      : [
          `${name}: ${plural(content.entries, 'entry', 'entries')}${trial.overlaps.length === 0 ? '; no list and no feed blocks any of them' : ''}`,
          ...effects(trial),
        ],
  );
  const isSubtracted = reports.some(({ trial }) => trial?.feeds.some(({ action }) => action === 'block'));
  const hint =
    'no block feed subtracts the never-block rules of other lists: weir workspace set, list set and feed set have --subtract-allow';
  return [...lines, ...(isSubtracted || reports.every(({ trial }) => trial === null) ? [] : [hint])].join('\n');
}

/** What each list and feed blocks of it, and what a block feed would lose. */
const effects = ({ overlaps, feeds }: NonNullable<TryReport['trial']>): string[] => [
  ...overlaps.map(
    ({ kind, name, entries, addresses_v4: addresses }) =>
      `  the ${NAMES[kind]} ${printable(name)} blocks addresses of ${plural(entries, 'entry', 'entries')} (${countText(addresses)} IPv4 addresses)`,
  ),
  ...feeds
    .filter(({ action }) => action === 'block')
    .map(
      ({ kind, name, entries_before: before, entries_after: after }) =>
        `  the block feed of the ${NAMES[kind]} ${printable(name)} would have ${countText(after)} entries instead of ${countText(before)}`,
    ),
];

const NAMES = { workspace: 'workspace', list: 'list', composed: 'feed' } as const;
