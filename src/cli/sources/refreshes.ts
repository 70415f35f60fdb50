/** `weir source refresh`, `accept`, `discard`: what the server that refreshes sources is asked to do (SPEC D23.22). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Command } from 'commander';
import type { SourceAsk } from '../../account/source-run.ts';
import { isoTime } from '../../clock.ts';
import { WeirError } from '../../errors.ts';
import { askSource, runJson } from '../../manage/sources/refreshes.ts';
import { type SourceJson, sourceJson } from '../../manage/sources/source-json.ts';
import type { StoreReads } from '../../ports/store.ts';
import { plural } from '../../text/count.ts';
import type { AddCommand } from '../command.ts';
import { changesIn, printable } from '../context.ts';
import { inWorkspace } from '../usage.ts';

interface Options {
  readonly workspace: string;
  readonly wait?: boolean;
}

const COMMANDS: readonly (readonly [what: SourceAsk['what'], summary: string])[] = [
  ['refresh', 'fetch a source now, or as soon as its host lets itself be asked'],
  ['accept', 'take the content that is held back'],
  ['discard', 'do not take the content that is held back, nor ask about it again'],
];

/** How often it is looked whether it is done, ms, and for how long beyond what fetching may take. */
const LOOK = 200;
const PATIENCE = 60_000;

const waiting = (command: Command): Command => inWorkspace(command).option('--wait', 'until it is done; exit code 1 when it has failed');

export function sourceRefreshCommands(add: AddCommand): void {
  for (const [what, summary] of COMMANDS)
    add(`source ${what} <source>`, summary, waiting, {
      async run(context, [name], { workspace: given, wait = false }: Options) {
        const { store, workspace } = await changesIn(context, given);
        const asked = await askSource({ store, workspaceId: workspace, by: context.author }, name!, what);
        if (!wait) return told(sourceJson(asked, await store.ping()));
        const source = await answered(store, workspace, asked.source.id, asked.asked!.at, context.config.sourceSeconds * 1000 + PATIENCE);
        const [run] = await store.sourceRuns(workspace, source.id);
        if (source.fault !== null || run?.outcome === 'held') context.exitCode = 1;
        return told(source, run && runJson(run));
      },
      show: ({ run, ...source }) =>
        run === null
          ? `${what} of ${printable(source.name)} is asked for; weir source show tells what became of it`
          : `${printable(source.name)}: ${run.outcome}, ${plural(source.entries, 'entry', 'entries')}, ${run.added} added, ${run.removed} removed${run.text === '' ? '' : `: ${printable(run.text)}`}`,
    });
}

const told = (source: SourceJson, run: ReturnType<typeof runJson> | null = null) => ({ ...source, run });

/** Waits until what was asked at an instant is done. Rejects with REFUSED where nobody does it. */
async function answered(store: StoreReads, workspace: string, id: string, at: number, patience: number): Promise<SourceJson> {
  for (const end = Date.now() + patience; Date.now() < end; await sleep(LOOK)) {
    const record = await store.source(workspace, id);
    if (record === undefined) throw new WeirError('NOT_FOUND', 'the source was deleted');
    const source = sourceJson(record, await store.ping());
    if (record.asked?.at !== at) return source;
    if ((record.state.waits?.until ?? 0) > end)
      throw new WeirError('REFUSED', `it is asked for, and waits for ${source.waits_for} until ${source.waits_until}`);
  }
  throw new WeirError(
    'REFUSED',
    `it was asked for at ${isoTime(at)}, and is not done yet: its host may want to be left alone, or no server with the role sources runs`,
  );
}
