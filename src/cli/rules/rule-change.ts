/** `weir rule change`: another expiry, reason or list for the rules that meet every given condition. */

import type { Command } from 'commander';
import { blockGuards } from '../../account/guard-rails.ts';
import { requireOwnList } from '../../account/managed-list.ts';
import { WeirError } from '../../errors.ts';
import { findList } from '../../manage/find.ts';
import { changeRules, MOST_CHANGED } from '../../manage/rules/rule-change.ts';
import { type EditPlan, planEdit, type RuleEdit, readExpiry } from '../../manage/rules/rule-edit.ts';
import { ruleName } from '../../manage/rules/rule-json.ts';
import type { StoreReads } from '../../ports/store.ts';
import { servedSettings } from '../../runtime/served-settings.ts';
import { plural } from '../../text/count.ts';
import type { AddCommand } from '../command.ts';
import { confirm } from '../confirm.ts';
import { printable } from '../context.ts';
import { asked, conditionOptions } from './conditions.ts';
import { asOperator, chosenRules, noting, operatedJson, waiting } from './rule-operations.ts';
import { ruleLine } from './rules.ts';

const SAMPLE = 10;

interface SetOptions {
  readonly setExpires?: string;
  readonly setReason?: string;
  readonly setList?: string;
}

const ruleChangeOptions = (c: Command): Command =>
  conditionOptions(c)
    .option('--set-expires <when>', 'when they expire: a duration such as 7d from now, an instant, or never')
    .option('--set-reason <text>', 'their reason; empty: none')
    .option('--set-list <list>', 'the list where they go, by its id or name')
    .option('--yes', 'do it without asking');

export function ruleChangeCommand(add: AddCommand): void {
  add('rule change', 'give the active rules that meet every given condition another expiry, reason or list', ruleChangeOptions, {
    async run(context, _args, options) {
      const { ports, workspace, rules, leftOut: left_out } = await chosenRules(context, options);
      const { reads } = ports;
      const now = await reads.ping();
      if (options.setList !== undefined && options.kind !== 'access_rule')
        throw new WeirError('USAGE', '--set-list is for access rules only');
      const edit = await readEdit(reads, workspace.id, options, now);
      if (rules.length > MOST_CHANGED)
        throw new WeirError(
          'REFUSED',
          `${rules.length} rules meet these conditions, and at most ${MOST_CHANGED} change as one batch: narrow them`,
        );
      const { guardRails } = servedSettings(context.config);
      const blockFaults = blockGuards(guardRails)(workspace).faults;
      const plan = await planEdit({ reads, workspaceId: workspace.id, now, blockFaults }, rules, edit);
      const told = planned(plan, left_out);
      if (told.changed === 0) return { ...told, unlanded: 0, batch_id: null };
      await confirm(context, [`changing ${plural(told.changed, 'rule')}${others(told)}`, ...sampleOf(plan)].join('\n'), options.yes);
      const note = await noting(context, workspace);
      const done = await changeRules(ports, asOperator(context, workspace), plan, edit);
      await note('rules changed', done.batches, { ...asked(options), set: setOf(options), rules: told.changed });
      return { ...told, ...operatedJson(done) };
    },
    show: (done) =>
      done.changed === 0
        ? `no rule changes${others(done)}`
        : `${plural(done.changed, 'rule')} changed by ${done.batch_id}${waiting(done)}${others(done)}`,
  });
}

async function readEdit(
  reads: StoreReads,
  workspace: string,
  { setExpires, setReason, setList }: SetOptions,
  now: number,
): Promise<RuleEdit> {
  if (setExpires === undefined && setReason === undefined && setList === undefined)
    throw new WeirError('USAGE', 'say what changes: give --set-expires, --set-reason or --set-list');
  const expiresAt = setExpires === undefined ? undefined : readExpiry(setExpires, now);
  if (typeof expiresAt === 'object') throw new WeirError('USAGE', `--set-expires ${expiresAt.fault}`);
  const list = setList === undefined ? undefined : await findList(reads, workspace, setList);
  if (list !== undefined) requireOwnList(list);
  return { expiresAt, list, ...(setReason !== undefined && { reason: setReason === '' ? null : setReason }) };
}

const setOf = ({ setExpires: expires, setReason: reason, setList: list }: SetOptions) => ({ expires, reason, list });

interface Told {
  readonly changed: number;
  readonly moved: number;
  readonly unchanged: number;
  readonly left_out: number;
  readonly refused: number;
}

const planned = ({ set, moved, unchanged, refused }: EditPlan, left_out: number): Told => ({
  changed: set.length + moved.length,
  moved: moved.length,
  unchanged,
  left_out,
  refused: refused.length,
});

/** Rules that stay as they are. */
const others = ({ unchanged, left_out: leftOut, refused }: Told) =>
  [
    unchanged > 0 && `${unchanged} have that already`,
    leftOut > 0 && `${leftOut} stay, because sources keep them`,
    refused > 0 && `${refused} cannot change`,
  ]
    .map((text) => (text === false ? '' : `; ${text}`))
    .join('');

const sampleOf = ({ set, moved, refused }: EditPlan) => [
  ...[...moved, ...set].slice(0, SAMPLE).map((rule) => `  ${ruleLine(rule)}`),
  ...refused.slice(0, SAMPLE).map(({ rule, why }) => printable(`  stays as it is: ${ruleName(rule)}: ${why}`)),
];
