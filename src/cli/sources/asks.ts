/** `weir source refresh`, `accept`, `discard`: what the process that refreshes sources is asked to do (SPEC D23.13, D23.17). */
import { setTimeout as sleep } from 'node:timers/promises';
import type { SourceAsk } from '../../account/source.ts';
import { byCommand } from '../../manage/context.ts';
import { runJson } from '../../manage/operations/source-asks.ts';
import { sourceJson } from '../../manage/sources/source-json.ts';
import { askOf } from '../../manage/sources/sources.ts';
import type { SourceRecord } from '../../ports/source-store.ts';
import type { Store } from '../../ports/store.ts';
import type { AddCommand } from '../command.ts';
import { printable, workspaceId } from '../context.ts';
import { inWorkspace } from '../usage.ts';

/** What each does. */
const ASKS: Readonly<Record<SourceAsk['what'], string>> = {
  refresh: 'fetch a source at once, whatever its interval; also one that its origin has refused',
  accept: 'apply the refresh of a source that is held back, as it was fetched',
  discard: 'drop the refresh of a source that is held back; that content is not asked about again',
};

/** How long a command waits, and between two looks, ms. */
const WAIT = 600_000;
const LOOK = 500;

export function askCommands(add: AddCommand): void {
  for (const [what, summary] of Object.entries(ASKS) as [SourceAsk['what'], string][])
    add(`source ${what} <source>`, summary, (c) => inWorkspace(c).option('--wait', 'wait until that is done, and tell what came of it'), {
      async run(context, [name], { workspace: given, wait }) {
        const store = await context.store();
        const workspace = await workspaceId(store, given);
        const asked = await askOf({ ...byCommand(store, workspace, context.author), store }, name!, what);
        const done = wait === true ? await untilDone(store, asked) : asked;
        const [run] = wait === true && done.asked === null ? await store.sourceRuns(workspace, asked.source.id) : [];
        if (wait === true && (run === undefined || NOT_DONE.includes(run.outcome))) context.exitCode = 1;
        return { ...sourceJson(done, await store.ping()), run: run === undefined ? null : runJson(run) };
      },
      show: ({ name, asked, run }) => {
        if (run === null)
          return `source ${printable(name)}: ${asked ?? what} is asked for, and done within seconds by a server with the role sources`;
        const { outcome, added, removed, text } = run;
        return `source ${printable(name)}: ${outcome}, ${added} added, ${removed} removed${text === '' ? '' : `: ${printable(text)}`}`;
      },
    });
}

const NOT_DONE: readonly string[] = ['held', 'failed', 'stopped'];

/** The source once what was asked is done, or nobody has done it in time. */
async function untilDone(store: Store, { source: { workspaceId: workspace, id } }: SourceRecord): Promise<SourceRecord> {
  for (const ends = Date.now() + WAIT; ; await sleep(LOOK)) {
    const found = (await store.source(workspace, id))!;
    if (found.asked === null || Date.now() > ends) return found;
  }
}
