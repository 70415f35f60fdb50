/** SPEC D54.10, D54.11. */
import { type ForecastFields, forecastFields } from '../../../feed/monitor/forecast-fields.ts';
import { answerOf, listOf, Type, textField } from '../../../json/schema.ts';
import type { StoredRule } from '../../../ports/stored/stored-rule.ts';
import type { AccessRule, Target } from '../../../rule.ts';
import { formatTarget, targetNamed } from '../../../signal/target.ts';
import { entryOf, signalOf } from '../../../source/readers/entry.ts';
import { arrayOf } from '../../../source/readers/items.ts';
import { rowOf } from '../../../source/readers/row.ts';
import type { ManageContext } from '../../context.ts';
import { activeRules, pastedRuleJson } from '../../lookup/pasted.ts';
import { targetsAround } from '../../lookup/path.ts';
import { allLanded } from '../../operate.ts';
import { fieldFault, type Operation, operation } from '../../operation.ts';
import { STILL_BLOCKED, stillBlocked } from '../../remaining-blocks.ts';
import { type FeedSetting, requireManage, setFeeds } from '../../rules/allow.ts';
import { foreseenSplit, splitInOneBatch } from '../../rules/rule-change.ts';
import { ALL_LANDED, changeFields, changeOutcome, landed, operatorOf, PREVIEW, portsOf } from '../../rules/rule-changes.ts';
import { namesIn } from '../../rules/rule-json.ts';
import { splitRules } from '../../rules/split.ts';
import { FEED_FIELDS, FEED_SETTING } from '../feed-fields.ts';
import { NARROW_EXAMPLE, NARROW_RULE } from './extract.ts';
import { RULE } from './rule-schema.ts';
import { ownRules } from './rule-selection.ts';
import { NO_DEFAULTS, OF_ENTRY, submitOne } from './rules.ts';

const VALUE = Type.String({ maxLength: 64, description: 'An address or a network.' });
const idOf = ({ kind, id }: Pick<FeedSetting, 'kind' | 'id'>) => (kind === 'workspace' ? kind : id!);

export const ALLOW_OPERATIONS: readonly Operation[] = [
  operation('allowTarget', 'POST /allow', 'rules:write', {
    summary: 'Allow a target, and set the feeds that would still block it',
    description:
      'Creates an allow rule, as `POST /rules`, and sets `subtract_allow` of block feeds that would still contain the target: of all that this clears, or those in `feeds`. Feeds need the permission manage. An undo of the batch also undoes the settings. Subtraction concerns all allow rules of a feed.',
    body: Type.Object({
      value: Type.String({ maxLength: 64, description: 'An address, a network, an ASN or a country.' }),
      list: textField(200, 'UUID or name; default: the default list.', { minLength: 1 }),
      expires: textField(40, 'A duration such as 3600 or 7d, or an instant. Default: never.'),
      reason: Type.Optional(Type.String({ maxLength: 2048 })),
      feeds: Type.Optional(
        Type.Array(Type.String({ maxLength: 40 }), {
          maxItems: 100,
          description: 'Ids of the feeds to set, or workspace. Default: all that help.',
        }),
      ),
      preview: PREVIEW,
    }),
    answer: answerOf(
      'Allowed',
      {
        settings: listOf(FEED_SETTING, { description: 'Feeds that are set, or would be, with the new value.' }),
        preview: false,
        ...changeFields(RULE.batch_id[0]),
      },
      { ...FEED_FIELDS, ...STILL_BLOCKED },
    ),
    audit: 'target allowed',
    creates: 'elsewhere',
    refusals: {
      404: 'there is no list "edge"',
      409: 'the rule has changed, but the feeds were changed concurrently: set subtract_allow again',
    },
    examples: [{ value: '192.0.2.7', reason: 'a customer', expires: '30d' }],
    async run(context, { body: { list, feeds, preview = false, ...fields } }) {
      const signal = signalOf(entryOf(rowOf({ ...fields, action: 'allow' }), NO_DEFAULTS), context.now());
      if (signal === undefined) throw fieldFault('expires', 'is in the past');
      const kept = await stillBlocked(context, fields.value, list);
      const settable = (kept.still_blocked ?? []).flatMap(({ kind, id, name, way_out: way }): FeedSetting[] => {
        const { do: does, value } = (way ?? {}) as { do?: string; value?: 'on' | 'workspace' };
        return does === 'subtract_allow' ? [{ kind, id, name, subtract_allow: value! }] : [];
      });
      const settings = settable.filter((each) => feeds?.includes(idOf(each)) ?? true);
      const unknown = feeds?.find((id) => !settable.some((each) => idOf(each) === id));
      if (unknown !== undefined && !preview)
        throw fieldFault('feeds', `names ${unknown}, which needs no setting or cannot be cleared by one`);
      if (!preview && settings.length > 0) requireManage(context);
      const batch = { version: signal.version, entries: arrayOf([signal]) };
      const asked = { list: list ?? null, ...fields, action: 'allow', feeds: settings.map(idOf) };
      const done = await submitOne(context, batch, { list, preview, names: OF_ENTRY, isAct: true }, 'target allowed', asked);
      const [act] = done.batches;
      if (act !== undefined) await setFeeds(context, settings, act);
      return {
        ...done,
        ...kept,
        settings: preview ? settable : settings,
        ...(!preview && (await stillBlocked(context, fields.value, list))),
      };
    },
    show: changeOutcome,
  }),
  operation('splitBlocks', 'POST /split', 'rules:write', {
    summary: 'Take a target out of the wider blocks that contain it',
    description:
      'Replaces each block that contains the address or network by the fewest blocks without it, in the same list, with the same reason, labels and expiry, as one batch. Blocks by sources, countries and ASNs stay; they are in `remaining`.',
    body: Type.Object({ value: VALUE, preview: PREVIEW }),
    answer: answerOf(
      'SplitBlocks',
      {
        splits: listOf({
          rule: [NARROW_EXAMPLE, NARROW_RULE],
          parts: [['198.51.100.0/25'], Type.Array(Type.String(), { description: 'The new blocks.' })],
        }),
        remaining: [[], Type.Array(NARROW_RULE, { description: 'Blocks that stay.' })],
        preview: false,
        ...changeFields(RULE.batch_id[0]),
      },
      FEED_FIELDS,
    ),
    audit: 'blocks split',
    creates: 'elsewhere',
    refusals: { 409: 'no block that can be split contains 192.0.2.7' },
    examples: [{ value: '192.0.2.7', preview: true }],
    async run(context, { body: { value, preview = false } }) {
      const target = targetNamed(value, context.isCountry);
      if (typeof target === 'string') throw fieldFault('value', target);
      if (target.kind !== 'ip') throw fieldFault('value', 'must be an address or a network');
      await allLanded(context);
      return split(context, target, preview);
    },
    show: changeOutcome,
  }),
];

type BlockRule = StoredRule & { readonly rule: AccessRule };

async function split(context: ManageContext, target: Target & { kind: 'ip' }, preview: boolean) {
  const { store, workspaceId } = context;
  const found = [...(await activeRules(context, targetsAround(target, context.locate(target)))).values()].flat() as BlockRule[];
  const blocks = found.filter(({ rule }) => rule.action === 'block');
  const { rules: own } = await ownRules(context, blocks, false);
  const splits = await splitRules(
    store,
    workspaceId,
    (own as BlockRule[]).filter(({ rule }) => rule.target.kind === 'ip'),
    target.network,
  );
  const gone = splits.map(({ rule }) => rule);
  // Two blocks of a list may leave the same part: the later expiry counts.
  const parts = new Map<string, StoredRule>();
  for (const { rule, parts: rest } of splits)
    for (const part of rest) {
      const name = `${rule.listId} ${formatTarget(part.target)}`;
      const known = parts.get(name);
      if (known === undefined || endOf(known.rule) < endOf(part)) parts.set(name, { ...rule, rule: part });
    }
  const added = [...parts.values()];
  const names = (await namesIn(store, workspaceId)).lists;
  const summary = {
    splits: splits.map(({ rule, parts: rest }) => ({
      rule: pastedRuleJson(rule, names),
      parts: rest.map((part) => formatTarget(part.target)),
    })),
    remaining: blocks.filter((each) => !gone.includes(each)).map((each) => pastedRuleJson(each, names)),
    preview,
  };
  const [first] = gone;
  if (preview) return { ...summary, ...(await feedsThen(context, gone, added)), batches: [], ...ALL_LANDED };
  if (first === undefined) throw fieldFault('value', 'is in no block that can be split');
  const batches = await splitInOneBatch(portsOf(context), operatorOf(context), gone, added);
  const asked = { value: formatTarget(target), blocks: gone.map(({ rule }) => formatTarget(rule.target)) };
  return { ...summary, ...(await landed(context, 'blocks split', batches, asked)) };
}

const endOf = ({ expiresAt }: { readonly expiresAt: number | null }) => expiresAt ?? Number.POSITIVE_INFINITY;

async function feedsThen(context: ManageContext, gone: readonly BlockRule[], added: readonly StoredRule[]): Promise<ForecastFields> {
  const [first] = gone;
  if (first === undefined) return { feeds: [] };
  const messages = foreseenSplit(operatorOf(context), gone, added, context.now());
  return forecastFields(context.forecast, { workspaceId: context.workspaceId, listId: first.listId!, messages }, false);
}
