/** `weir source`: lists with an origin (SPEC D23). */

import type { Command } from 'commander';
import { sourceReach } from '../../fetch/reach.ts';
import type { ChangeContext } from '../../manage/context.ts';
import { deletionPreview } from '../../manage/deletion.ts';
import { runJson } from '../../manage/sources/refreshes.ts';
import { type SourceJson, sourceJson } from '../../manage/sources/source-json.ts';
import { changeSource, createSource, deleteSource, findSource, pauseSource, type SourceChange } from '../../manage/sources/sources.ts';
import { everyItem } from '../../ports/stored/paginate.ts';
import { findCatalogue } from '../../source/catalogue.ts';
import { durationText } from '../../text/duration.ts';
import { comesBack, previewLines } from '../account/deletions.ts';
import type { AddCommand } from '../command.ts';
import { confirm } from '../confirm.ts';
import { type Context, changesIn, fieldTable, printable, readsIn, table } from '../context.ts';
import { inWorkspace, readName, requireChange } from '../usage.ts';
import { type SourceOptions, secretGiven, settingsGiven, sourceOptions } from './options.ts';

/** What a command changes sources with. */
const sourceChange = (change: ChangeContext, { config }: Context): SourceChange => ({
  ...change,
  secretKeys: config.secretsKey,
  sourceReach: sourceReach(config.sourceNetworks, config.nat64Prefixes),
});

interface Row {
  readonly workspace: string;
}

export function sourceCommands(add: AddCommand): void {
  add(
    'source add <name> [url]',
    'make a source and the list that it keeps; without an address one of the catalogue',
    (c) => sourceOptions(c).option('--name <name>', 'another name, for one of the catalogue', readName),
    {
      async run(context, [name, url], options: SourceOptions & { readonly name?: string }) {
        const { store, change } = await changesIn(context, options.workspace);
        const origin = url === undefined ? { catalogue: name!, name: options.name } : { url, name: options.name ?? readName(name!) };
        const wanted = { ...settingsGiven(options), ...(await secretGiven(options)), ...origin };
        return sourceJson(await createSource(sourceChange(change, context), wanted), await store.ping());
      },
      show: ({ name, id, url, every, catalogue }) =>
        [`source ${printable(name)} ${id}: ${url}, every ${durationText(every)}`, ...whatToKnow(catalogue)].join('\n'),
    },
  );
  add('source ls', 'list the sources of a workspace, and how they are', inWorkspace, {
    async run(context, _args, options: Row) {
      const { store, workspace } = await readsIn(context, options.workspace);
      const now = await store.ping();
      const found = await Array.fromAsync(everyItem((page) => store.sourcePage(workspace, page)));
      return found.map((record) => sourceJson(record, now));
    },
    show: (rows) =>
      table(['NAME', 'STATE', 'ENTRIES', 'FOR', 'EVERY', 'CONFIRMED', 'NEXT', 'WAITS FOR', 'URL'], rows, (row) => [
        row.name,
        row.state,
        row.entries,
        row.purpose,
        durationText(row.every),
        row.confirmed_at,
        row.next_at,
        row.waits_for,
        row.url,
      ]),
  });
  add('source show <source>', 'tell how a source is: its settings, its state, its last refreshes', inWorkspace, {
    async run(context, [name], options: Row) {
      const { store, workspace } = await readsIn(context, options.workspace);
      const found = await findSource(store, workspace, name!);
      const runs = await store.sourceRuns(workspace, found.source.id);
      return { ...sourceJson(found, await store.ping()), runs: runs.map(runJson) };
    },
    show: shownText,
  });
  add(
    'source set <source>',
    'change what is set of a source; what is not named stays',
    (c) => sourceOptions(c).option('--url <url>', 'another address; another origin needs the secret again'),
    {
      async run(context, [name], options: SourceOptions) {
        const patch = requireChange({ ...settingsGiven(options), ...(await secretGiven(options)) }, 'source set');
        const { store, change } = await changesIn(context, options.workspace);
        return sourceJson(await changeSource(sourceChange(change, context), name!, patch), await store.ping());
      },
      show: ({ name, id }) => `source ${printable(name)} ${id} is changed`,
    },
  );
  for (const isPaused of [true, false]) {
    const [word, summary] = isPaused
      ? ['pause', 'refresh a source no more; its list stays until its content is too old']
      : ['resume', 'refresh a source again, at once, whatever stopped it'];
    add(`source ${word} <source>`, summary, inWorkspace, {
      async run(context, [name], options: Row) {
        const { store, change } = await changesIn(context, options.workspace);
        return sourceJson(await pauseSource(change, name!, isPaused), await store.ping());
      },
      show: ({ name, id }) => `source ${printable(name)} ${id} is ${word}d`,
    });
  }
  add('source delete <source>', 'delete a source with its list and rules; tells what goes with it, and asks', deleteOptions, {
    async run(context, [name], { workspace: given, yes, forGood, keepList }) {
      const { store, workspace, change } = await changesIn(context, given);
      const { source } = await findSource(store, workspace, name!);
      const told = await deletionPreview(store, workspace, 'source', source.listId);
      if (told.needs_confirmation && !keepList)
        await confirm(context, [...previewLines(told, 'source'), ...comesBack(told, given, forGood)].join('\n'), yes);
      return deleteSource(change, source.id, { confirmed: true, forGood, keepList });
    },
    show: ({ id, name, list_kept: isKept, restorable_until: until }) =>
      `source ${printable(name)} ${id} is deleted${isKept ? '; its list stays, with its rules' : until === null ? ' for good' : `; weir list restore ${JSON.stringify(name)} brings it back, paused, until ${until}`}`,
  });
}

/** What the catalogue says of a source that was made of it. */
function whatToKnow(catalogue: string | null): string[] {
  const row = catalogue === null ? undefined : findCatalogue(catalogue);
  return row === undefined ? [] : [`terms: ${row.terms}`, ...(row.note === undefined ? [] : [`to know: ${row.note}`])];
}

const deleteOptions = (c: Command): Command =>
  inWorkspace(c)
    .option('--keep-list', 'its list stays with its rules, as an ordinary one')
    .option('--for-good', 'it cannot be brought back, and its rules do not count any more')
    .option('--yes', 'do it without asking');

type Shown = SourceJson & { readonly runs: readonly ReturnType<typeof runJson>[] };

/** A line for each thing that is to be said of a source. */
function shownText({ runs, held, ...source }: Shown): string {
  const { stale_after: staleAfter } = source as Readonly<Record<string, unknown>>;
  const lines = Object.entries({ ...source, every: durationText(source.every), stale_after: durationText(Number(staleAfter)) })
    .filter(([, value]) => value !== null && (!Array.isArray(value) || value.length > 0))
    .map(
      ([name, value]) => `${name.replaceAll('_', ' ').padEnd(16)} ${printable(Array.isArray(value) ? value.join(', ') : String(value))}`,
    );
  const waits = held === null ? [] : [`${'held'.padEnd(16)} since ${held.since}: ${printable(held.reason)}`];
  const columns = {
    REFRESH: 'at',
    OUTCOME: 'outcome',
    ENTRIES: 'entries',
    ADDED: 'added',
    REMOVED: 'removed',
    REFUSED: 'refused',
    ID: 'replacement',
    '': 'text',
  } as const;
  const refreshes = ['', fieldTable(runs, columns)];
  return [...lines, ...waits, ...(runs.length === 0 ? [] : refreshes)].join('\n');
}
