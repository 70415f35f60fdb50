/** `weir export` (docs/moving.md). */

import { createWriteStream, existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { isDeepStrictEqual } from 'node:util';
import type { SavedSource } from '../../account/source-change.ts';
import { NO_WORKSPACE_SETTINGS, type Workspace } from '../../account/workspace.ts';
import { WeirError } from '../../errors.ts';
import type { StoreReads } from '../../ports/store.ts';
import { everyItem } from '../../ports/stored/paginate.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import { KINDS, type Kind, RULE_KINDS } from '../../rule.ts';
import { readInChunks } from '../../schedule/chunks.ts';
import type { AddCommand } from '../command.ts';
import { type Context, workspaceIn } from '../context.ts';
import { untilLanded } from '../landed.ts';
import { startProgress } from '../progress.ts';
import { inWorkspace } from '../usage.ts';

import {
  type Counts,
  endLine,
  feedLine,
  headLine,
  keyLine,
  listLine,
  noCounts,
  repeatLine,
  ruleLine,
  settingsLine,
  sourceLine,
} from './workspace-file.ts';
import type { SavedRule } from './workspace-line.ts';

/** Rules in a query. */
const SLICE = 400;
/** Characters in a write. */
const CHUNK = 65_536;

export function exportCommand(add: AddCommand): void {
  add(
    'export [file]',
    'write a workspace with its lists, feeds, sources, rules and key hashes to a new file, or to standard output, for weir import',
    inWorkspace,
    {
      async run(context, [file], options) {
        if (file !== undefined && existsSync(file)) throw existing(file);
        const store = await context.reads();
        const workspace = await workspaceIn(context, store, options.workspace);
        const left = await untilLanded(context, await context.stream(), store);
        if (left > 0) {
          throw new WeirError(
            'USAGE',
            `${left} messages of the stream have not landed and nothing lands them: run weir with the role consumer, so that their rules are exported too`,
          );
        }
        const counts = await exportWorkspace(context, store, workspace, file);
        return file === undefined ? undefined : { file, ...counts };
      },
      show: (done) =>
        done === undefined
          ? ''
          : `${done.file}: ${done.lists} lists, ${done.feeds} feeds, ${done.sources} sources, ${done.keys} keys, ${done.rules} rules`,
    },
  );
}

async function exportWorkspace(context: Context, store: StoreReads, workspace: Workspace, file: string | undefined): Promise<Counts> {
  const counts = noCounts();
  const now = await store.ping();
  const output = file === undefined ? context.stdout : createFile(file);
  const progress = startProgress(context, 'exporting', await store.countRules(workspace.id, now), { rules: 0 });
  try {
    const lines = chunked(workspaceLines(store, workspace, now, counts), () => progress.update(counts.rules, { rules: counts.rules }));
    await pipeline(Readable.from(lines), output, { end: file !== undefined });
  } catch (error) {
    if (file === undefined) throw error;
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') throw existing(file);
    await rm(file, { force: true });
    throw error;
  } finally {
    progress.stop();
  }
  return counts;
}

const existing = (file: string) => new WeirError('USAGE', `the file "${file}" exists already`);

/** Readable only by its owner. */
const createFile = (file: string) => createWriteStream(file, { flags: 'wx', mode: 0o600, flush: true });

async function* workspaceLines(store: StoreReads, workspace: Workspace, now: number, counts: Counts): AsyncGenerator<string> {
  yield headLine(workspace, now);
  if (!isDeepStrictEqual({ ...workspace, ...NO_WORKSPACE_SETTINGS }, workspace)) yield settingsLine(workspace);
  // Keys are read first: their lists and feeds are older.
  const keys = await store.savedKeys(workspace.id);
  const feeds = await store.feeds(workspace.id);
  const lists = (await store.directory(workspace.id))!.lists;
  const ids = new Set(lists.map(({ id }) => id));
  counts.lists = lists.length;
  counts.feeds = feeds.length;
  counts.keys = keys.length;
  yield* lists.map(listLine);
  // A list that was deleted meanwhile has no line.
  const there = (id: string) => ids.has(id);
  yield* feeds.map((feed) => feedLine({ ...feed, lists: feed.lists?.filter(there) ?? null, always: feed.always.filter(there) }));
  for await (const source of sourcesOf(store, workspace.id)) {
    if (!ids.has(source.listId)) continue;
    counts.sources += 1;
    yield sourceLine(source);
  }
  yield* keys.map(keyLine);
  for (const { id } of lists.filter(({ repeat }) => repeat !== null)) {
    for await (const state of everyItem((page) => store.repeatPage(workspace.id, id, { ...page, now }))) {
      counts.repeats += 1;
      yield repeatLine(state);
    }
  }
  for await (const rule of allRules(store, workspace.id, lists, now)) {
    counts.rules += 1;
    yield ruleLine(rule, now);
  }
  yield endLine(counts);
}

/** Without secrets. */
async function* sourcesOf(store: StoreReads, workspaceId: string): AsyncGenerator<SavedSource> {
  for await (const { source, state } of everyItem((page) => store.sourcePage(workspaceId, page))) {
    const { workspaceId: _w, name: _n, revision: _r, createdAt: _c, ...saved } = source;
    yield { ...saved, confirmedAt: state.confirmedAt };
  }
}

/** Only of these lists: a list made meanwhile has no line. */
async function* allRules(store: StoreReads, workspaceId: string, lists: readonly { id: string }[], now: number): AsyncGenerator<SavedRule> {
  for (const kind of KINDS) {
    const places = RULE_KINDS[kind].scope === 'workspace' ? [null] : lists.map(({ id }) => id);
    for (const listId of places) {
      const rules = store.rules(workspaceId, { kind, ...(listId !== null && { listId }), now });
      for await (const some of readInChunks(rules, SLICE)) yield* await withPast(store, workspaceId, { kind, listId }, some);
    }
  }
}

/** Adds the sender of each rule, and the replaced rule with its sender. */
async function withPast(
  store: StoreReads,
  workspaceId: string,
  of: { readonly kind: Kind; readonly listId: string | null },
  rules: readonly StoredRule[],
): Promise<SavedRule[]> {
  const earlier = new Map((await store.rulesBefore(workspaceId, of, rules)).map((rule) => [rule.id, rule]));
  const origins = await store.origins(
    workspaceId,
    [...rules, ...earlier.values()].map(({ seq }) => seq),
  );
  const saved = ({ id: _, seq, ...rule }: StoredRule): SavedRule => {
    const origin = origins.get(seq);
    return { ...rule, ...(origin !== undefined && (origin.batchId ?? origin.keyId ?? origin.personId ?? null) !== null && { origin }) };
  };
  return rules.map((rule) => {
    const before = earlier.get(rule.id);
    return before === undefined ? saved(rule) : { ...saved(rule), before: saved(before) };
  });
}

async function* chunked(lines: AsyncIterable<string>, onChunk: () => void): AsyncGenerator<string> {
  let chunk = '';
  for await (const line of lines) {
    chunk += `${line}\n`;
    if (chunk.length < CHUNK) continue;
    yield chunk;
    chunk = '';
    onChunk();
  }
  yield chunk;
  onChunk();
}
