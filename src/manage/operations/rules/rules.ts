/** SPEC D15.31 to D15.35. */

import { answerOf, durationOf, Type, textField, wordField } from '../../../json/schema.ts';
import { EXPRESSION_KINDS, RULE_TYPES } from '../../../rule.ts';
import type { Batch } from '../../../signal/accept.ts';
import type { EntryFault } from '../../../signal/faults.ts';
import { throwRefusal } from '../../../signal/refusal.ts';
import type { FieldFault } from '../../../signal/validate.ts';
import { canSayName, entryOf, signalOf } from '../../../source/readers/entry.ts';
import { arrayOf } from '../../../source/readers/items.ts';
import { rowOf } from '../../../source/readers/row.ts';
import { LIST_ACTIONS, type ListAction } from '../../../source/readers/verdict.ts';
import type { ManageContext } from '../../context.ts';
import { fieldFault, fieldFaults, type Operation, operation } from '../../operation.ts';
import { checkApproval, previewBatches } from '../../preview.ts';
import { STILL_BLOCKED, type StillBlockedFields, stillBlocked } from '../../remaining-blocks.ts';
import { type Change, changeFields, changeOutcome, landed, PREVIEW } from '../../rules/rule-changes.ts';
import { FEED_FIELDS } from '../feed-fields.ts';
import { RULE } from './rule-schema.ts';

export interface ChangedRule extends Change, StillBlockedFields {
  readonly preview: boolean;
  readonly warnings?: readonly string[];
}

const CHANGED = answerOf(
  'RuleChange',
  { ...changeFields(RULE.batch_id[0]), preview: false },
  {
    warnings: Type.Optional(
      Type.Array(Type.String(), { description: 'Likely mistakes; in previews also what agents would silently ignore.' }),
    ),
    ...FEED_FIELDS,
    ...STILL_BLOCKED,
  },
);

/** Same checks as POST /v2/signal. */
export async function submitOne(
  context: ManageContext,
  signal: Pick<Batch, 'version' | 'entries'>,
  {
    list,
    preview = false,
    names,
    isAct = false,
  }: { readonly list?: string | undefined; readonly preview?: boolean | undefined; readonly names: FieldNames; readonly isAct?: boolean },
  event: string,
  asked: Readonly<Record<string, unknown>>,
): Promise<ChangedRule> {
  const batch = { ...signal, caller: context.caller, list };
  if (!preview) await checkApproval(context, [batch]);
  const tried = preview ? await previewBatches(context, [batch]) : undefined;
  const result = tried?.results[0] ?? (await context.accept({ ...batch, dryRun: false }));
  if (result.refused !== undefined) return throwRefusal(result.refused);
  const { batchId, warnings, faults } = result;
  const [fault, ...others] = faults.map((each) => requestFault(each, names));
  if (fault !== undefined) throw fieldFaults([fault, ...others]);
  const change = await landed(
    isAct && batchId !== null ? { ...context, by: { ...context.by, act: batchId } } : context,
    event,
    batchId === null ? [] : [batchId],
    asked,
  );
  return { ...change, preview, ...(warnings.length > 0 && { warnings }), ...tried?.feeds };
}

type FieldNames = Readonly<Record<string, string>>;
const OF_BOTH: FieldNames = { entry: 'request' };
export const OF_ENTRY: FieldNames = {
  ...OF_BOTH,
  ...{
    target: 'value',
    'target.ip': 'value',
    'target.asn': 'value',
    'target.country': 'value',
    ip: 'value',
    asn: 'value',
    country: 'value',
  },
  ...{
    'config.confidence': 'confidence',
    'config.severity': 'severity',
    expires_in: 'expires',
    expiration: 'expires',
    description: 'reason',
  },
};

function requestFault({ field, message }: EntryFault, names: FieldNames): FieldFault {
  const own = field.replace(/^rule\./, '');
  return { field: names[own] ?? own, message };
}

const text = (maxLength: number, description?: string) => Type.String({ maxLength, ...(description !== undefined && { description }) });
const object = Type.Unsafe<object>({ type: 'object' });
const COMMON = {
  reason: Type.Optional(text(2048)),
  labels: Type.Optional(object),
  config: Type.Optional(object),
  name: Type.Optional(text(256)),
  preview: PREVIEW,
};
const ENTRY = {
  value: text(64, 'An address, a network, an ASN such as AS64500, or a country such as NL.'),
  action: wordField(LIST_ACTIONS, 'Default: block; unblock removes rules that block exactly this value.'),
  list: textField(200, 'UUID or name; default: the default list.', { minLength: 1 }),
  expires: Type.Optional(text(40, "A duration such as 3600 or 7d, or an instant. Default: never, or the service's default.")),
  confidence: Type.Optional(text(16)),
  severity: Type.Optional(text(16)),
  rule_ref: Type.Optional(text(128, 'Identifies the rule instead of its value.')),
  ...COMMON,
};
const EXPRESSION = {
  kind: Type.Enum([...EXPRESSION_KINDS]),
  rule_ref: text(128, 'Identifies the rule: an existing rule with it is replaced.'),
  type: wordField(RULE_TYPES, 'Default: custom.'),
  expression: text(100_000),
  action: text(32),
  order: Type.Optional(Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER })),
  short_description: Type.Optional(text(2048)),
  phase: Type.Optional(text(16)),
  expires_in: Type.Optional(durationOf('s', 'Seconds', { minimum: 0, maximum: Number.MAX_SAFE_INTEGER })),
  ...COMMON,
};
export const NO_DEFAULTS = { action: 'block' as ListAction, expiresIn: undefined, reason: undefined, labels: {} };

export const RULE_OPERATIONS: readonly Operation[] = [
  operation('blockTarget', 'POST /rules', 'rules:write', {
    summary: 'Block, allow or unblock one address, network, ASN or country',
    description: 'A signal with the same checks and faults as POST /v2/signal.',
    body: Type.Object(ENTRY),
    answer: CHANGED,
    audit: 'rule changed',
    creates: 'elsewhere',
    refusals: { 404: 'No such access-rules list' },
    examples: [
      { value: '192.0.2.1', reason: 'port scan', expires: '7d' },
      { value: '192.0.2.1', action: 'unblock' },
    ],
    async run(context, { body: { list, preview, ...fields } }) {
      const entry = entryOf(rowOf(fields), NO_DEFAULTS);
      if (entry.name !== undefined && !canSayName(entry))
        throw fieldFault('name', 'is only allowed for a block without labels, config, confidence, severity and rule_ref');
      const signal = signalOf(entry, context.now());
      if (signal === undefined) throw fieldFault('expires', 'is in the past');
      const { version } = signal;
      const asked = { list: list ?? null, ...fields };
      const batch = { version, entries: arrayOf([signal]) };
      const changed = await submitOne(context, batch, { list, preview, names: OF_ENTRY }, 'rule changed', asked);
      const unblocks = fields.action === 'allow' || (fields.action === 'unblock' && preview === true) ? fields.action : undefined;
      return unblocks === undefined ? changed : { ...changed, ...(await stillBlocked(context, fields.value, list, unblocks)) };
    },
    show: changeOutcome,
  }),
  operation('putExpressionRule', 'POST /rules/expressions', 'rules:write', {
    summary: 'Create or replace a WAF or Smart Firewall rule',
    description: 'A signal with the same checks and faults as POST /v2/signal.',
    body: Type.Object(EXPRESSION),
    bodyBytes: 256 * 1024,
    answer: CHANGED,
    audit: 'rule changed',
    creates: 'elsewhere',
    examples: [
      { kind: 'waf_rule', rule_ref: 'waf-login', expression: 'http.request.path contains "/login"', action: 'challenge', order: 10 },
    ],
    run(context, { body: { kind, rule_ref, expires_in, reason, labels, preview, type = 'custom', ...rule } }) {
      const envelope = { schema_version: 2, kind, op: 'upsert', rule_ref, expires_in, reason, labels, rule: { type, ...rule } };
      return submitOne(context, { version: 2, entries: [envelope] }, { preview, names: OF_BOTH }, 'rule changed', {
        kind,
        rule_ref,
        action: rule.action,
      });
    },
    show: changeOutcome,
  }),
];
