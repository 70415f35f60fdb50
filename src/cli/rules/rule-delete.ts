/** `weir rule delete`: the rules that meet every given condition. */

import { readSince } from '../../duration.ts';
import { WeirError } from '../../errors.ts';
import { findList } from '../../manage/find.ts';
import { operate } from '../../manage/operate.ts';
import { deletions } from '../../manage/rule-deletion.ts';
import { meeting, type RuleConditions } from '../../manage/rule-search.ts';
import type { StoredRule } from '../../ports/rule-store.ts';
import type { StoreReads } from '../../ports/store.ts';
import { KINDS } from '../../rule.ts';
import type { AddCommand } from '../command.ts';
import { confirm } from '../confirm.ts';
import { inWorkspace, oneOf, pick } from '../usage.ts';
import { operatedJson } from './batches.ts';
import { asOperator, rulePorts, waiting } from './rule-operations.ts';
import { ruleLine } from './rules.ts';

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
          sinceOf,
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
        const ports = await rulePorts(context, 'nothing has changed');
        await ports.untilLanded();
        const { reads } = ports;
        const workspace = pick(await reads.workspaces(), options.workspace, 'workspace');
        const listId = list === undefined ? undefined : (await findList(reads, workspace.id, list)).id;
        const rules = await matching(reads, workspace.id, { kind, listId, labels: label, reason, since, key, batch });
        if (rules.length === 0) return { deleted: 0, unlanded: 0, batch_id: null };
        const sample = rules.slice(0, SAMPLE).map((rule) => `  ${ruleLine(rule)}`);
        await confirm(context, [`deleting ${rules.length} rules`, ...sample].join('\n'), yes);
        const done = await operate(ports, asOperator(workspace), deletions(rules));
        return { deleted: rules.length, ...operatedJson(done) };
      },
      show: ({ deleted, batch_id, unlanded }) =>
        deleted === 0 ? 'no rule meets these conditions' : `${deleted} rules deleted by ${batch_id}${waiting({ unlanded })}`,
    },
  );
}

/** Rules that are judged at a time. */
const PAGE = 1000;

async function matching(store: StoreReads, workspace: string, conditions: RuleConditions): Promise<StoredRule[]> {
  const found: StoredRule[] = [];
  let page: StoredRule[] = [];
  const judge = async () => {
    for (const rule of await meeting(store, workspace, conditions, page)) found.push(rule);
    page = [];
  };
  const { kind, listId } = conditions;
  for await (const rule of store.rules(workspace, { kind, listId, now: Date.now() })) {
    page.push(rule);
    if (page.length === PAGE) await judge();
  }
  await judge();
  return found;
}

function collectLabel(text: string, before: [string, string][] = []): [string, string][] {
  const at = text.indexOf('=');
  if (at < 1) throw new WeirError('USAGE', `--label must be key=value, not "${text}"`);
  return [...before, [text.slice(0, at), text.slice(at + 1)]];
}

function sinceOf(text: string): number {
  const at = readSince(text, Date.now());
  if (at === undefined)
    throw new WeirError('USAGE', '--since must be an instant such as 2026-11-22T08:00:00Z, or how long ago, such as 2h');
  return at;
}
