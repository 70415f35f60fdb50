/** `weir rule delete`: the rules that meet every given condition. */

import { WeirError } from '../errors.ts';
import { findList } from '../manage/find.ts';
import type { StoredRule } from '../ports/rule-store.ts';
import type { StoreReads } from '../ports/store.ts';
import { type JsonObject, KINDS, type Kind } from '../rule.ts';
import { OPERATION_RULES } from '../signal/message.ts';
import { operatedJson } from './batches.ts';
import type { AddCommand } from './command.ts';
import { confirm, type ListOperation, operate, settledReads, waiting } from './operations.ts';
import { ruleLine } from './rules.ts';
import { inWorkspace, oneOf, pick, readDuration } from './usage.ts';

/** Which rules are meant; a condition that is not given holds for every rule. */
interface Conditions {
  readonly kind: Kind;
  readonly listId: string | undefined;
  readonly labels: readonly [string, string][];
  readonly reason: string | undefined;
  /** ms */
  readonly since: number | undefined;
  readonly key: string | undefined;
  readonly batch: string | undefined;
}

const SAMPLE = 10;

export function ruleDeleteCommand(add: AddCommand): void {
  add(
    'rule delete',
    'delete the active rules that meet every given condition',
    (c) =>
      inWorkspace(c)
        .option('--kind <kind>', KINDS.join(', '), oneOf('--kind', KINDS), 'access_rule')
        .option('--list <list>', 'rules of this list')
        .option('--label <key=value>', 'rules with this label; repeatable', collectLabel)
        .option('--reason <text>', 'rules with exactly this reason')
        .option(
          '--since <time>',
          'rules made or changed since: an instant such as 2026-11-22T08:00:00Z, or how long ago, such as 2h',
          readSince,
        )
        .option('--key <id>', 'rules that were written last by this key')
        .option('--batch <id>', 'rules that were written last by this batch')
        .option('--yes', 'do it without asking'),
    {
      async run(context, _args, options) {
        const { list, label = [], reason, since, key, batch, kind, yes } = options;
        if ([list, reason, since, key, batch].every((given) => given === undefined) && label.length === 0) {
          throw new WeirError('USAGE', 'say which rules: give --list, --label, --reason, --since, --key or --batch');
        }
        const store = await settledReads(context);
        const workspace = pick(await store.workspaces(), options.workspace, 'workspace');
        const listId = list === undefined ? undefined : (await findList(store, workspace.id, list)).id;
        const rules = await matching(store, workspace.id, { kind, listId, labels: label, reason, since, key, batch });
        if (rules.length === 0) return { deleted: 0, unlanded: 0, batch_id: null };
        const sample = rules.slice(0, SAMPLE).map((rule) => `  ${ruleLine(rule)}`);
        await confirm(context, [`deleting ${rules.length} rules`, ...sample].join('\n'), yes);
        const done = await operate(context, store, workspace, deletions(rules));
        return { deleted: rules.length, ...operatedJson(done) };
      },
      show: ({ deleted, batch_id, unlanded }) =>
        deleted === 0 ? 'no rule meets these conditions' : `${deleted} rules deleted by ${batch_id}${waiting({ batches: [], unlanded })}`,
    },
  );
}

/** Rules whose origin is asked for at a time. */
const PAGE = 1000;

async function matching(store: StoreReads, workspace: string, { kind, listId, ...conditions }: Conditions): Promise<StoredRule[]> {
  const { labels, reason, since, key, batch } = conditions;
  const found: StoredRule[] = [];
  let page: StoredRule[] = [];
  const flush = async () => {
    const origins =
      key === undefined && batch === undefined
        ? undefined
        : await store.origins(
            workspace,
            page.map(({ seq }) => seq),
          );
    for (const rule of page) {
      const origin = origins?.get(rule.seq);
      const isMeant =
        origins === undefined ||
        ((key ?? origin?.keyId) === origin?.keyId && (batch?.toLowerCase() ?? origin?.batchId) === origin?.batchId);
      if (isMeant && (origins === undefined || origin !== undefined)) found.push(rule);
    }
    page = [];
  };
  for await (const rule of store.rules(workspace, { listId, kind, now: Date.now() })) {
    const { labels: has, reason: why } = rule.rule;
    if (reason !== undefined && why !== reason) continue;
    if (since !== undefined && rule.updatedAt < since) continue;
    if (!labels.every(([name, value]) => hasLabel(has, name, value))) continue;
    page.push(rule);
    if (page.length === PAGE) await flush();
  }
  await flush();
  return found;
}

const hasLabel = (labels: JsonObject | null, name: string, value: string) =>
  labels !== null && Object.hasOwn(labels, name) && String(labels[name]) === value;

/** One operation for so many rules of one list as it may name. */
function deletions(rules: readonly StoredRule[]): ListOperation[] {
  const operations: ListOperation[] = [];
  for (const same of Map.groupBy(rules, ({ listId }) => listId).values()) {
    for (let at = 0; at < same.length; at += OPERATION_RULES) {
      const { kind, listId } = same[0];
      const ids = same.slice(at, at + OPERATION_RULES).map(({ id }) => id);
      operations.push({ operation: { change: 'delete_rules', kind, ids }, listId });
    }
  }
  return operations;
}

function collectLabel(text: string, before: [string, string][] = []): [string, string][] {
  const at = text.indexOf('=');
  if (at < 1) throw new WeirError('USAGE', `--label must be key=value, not "${text}"`);
  return [...before, [text.slice(0, at), text.slice(at + 1)]];
}

function readSince(text: string): number {
  const seconds = readDuration(text);
  const at = seconds === undefined ? (/^\d{4}-\d\d-\d\d/.test(text) ? Date.parse(text) : Number.NaN) : Date.now() - seconds * 1000;
  if (Number.isNaN(at))
    throw new WeirError('USAGE', '--since must be an instant such as 2026-11-22T08:00:00Z, or how long ago, such as 2h');
  return at;
}
