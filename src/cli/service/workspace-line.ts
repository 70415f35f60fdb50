/** Lines of an export (docs/moving.md). A line is valid if it stays the same when it is read and written again. */

import { feedSettingsJson, makingJson, makingOf, type SavedFeed } from '../../account/feed.ts';
import { protectedWord } from '../../account/guard-rails.ts';
import { bindingFault, type SavedKey } from '../../account/key.ts';
import { largeSettingsOf } from '../../account/large.ts';
import { type ListSettings, type SavedList, settingFaults, settingsJson, settingsOf } from '../../account/list.ts';
import { existingNameFault } from '../../account/name.ts';
import { type GroupRole, readGroupRole } from '../../account/person.ts';
import { type WorkspaceSettings, workspaceSettingsJson } from '../../account/workspace.ts';
import { isoTime } from '../../clock.ts';
import { type Static, Type } from '../../json/schema.ts';
import { originJson } from '../../manage/rules/rule-json.ts';
import type { RuleOrigin } from '../../ports/stored/rule-store.ts';
import type { StoredRule } from '../../ports/stored/stored-rule.ts';
import { type AccessRule, type ExpressionRule, KINDS, type Target } from '../../rule.ts';
import { decodeSignalRecord } from '../../signal/message/decode.ts';
import { encodeMessage } from '../../signal/message/encode.ts';
import { ruleJson } from '../../signal/rule-json.ts';
import { ruleToSignals } from '../../signal/rule-to-signals.ts';
import { readTarget, TARGET_FIELDS, writeTarget } from '../../signal/target.ts';
import { reader } from '../../signal/validate.ts';
import {
  AccessRuleShape,
  ExpressionRuleShape,
  FeedShape,
  KeyShape,
  type Line,
  ListShape,
  oneOf,
  optional,
  SettingsShape,
  text,
  unchanged,
  uuid,
} from './line-shapes.ts';

/** Without the store's numbers; with its origin and the replaced rule, if known. */
export type SavedRule = Omit<StoredRule, 'id' | 'seq'> & {
  readonly origin?: RuleOrigin | undefined;
  readonly before?: SavedRule | undefined;
};

const ms = (instant: string) => Date.parse(instant);
const msOrNull = (instant: string | null) => (instant === null ? null : ms(instant));

const faultOf = (field: string, fault: string | null) => (fault === null ? undefined : `${field}: ${fault}`);

export const SETTINGS_LINE: Line<WorkspaceSettings> = {
  read: reader(SettingsShape, (line) => {
    const odd = line.protect.find((word) => protectedWord(word) !== word);
    if (odd !== undefined) return `protect: must not hold ${JSON.stringify(odd)}`;
    const people = (line.people ?? []).map(readGroupRole);
    const unread = people.indexOf(undefined);
    if (unread >= 0) return `people: must not hold ${JSON.stringify(line.people![unread])}`;
    const { protect, min_prefix_v4: minPrefixV4, min_prefix_v6: minPrefixV6, subtract_allow: subtractAllow } = line;
    return { protect, minPrefixV4, minPrefixV6, subtractAllow, people: people as GroupRole[], ...largeSettingsOf(line) };
  }),
  write(settings) {
    const { people, ...rest } = workspaceSettingsJson(settings);
    const set = Object.fromEntries(Object.entries(rest).filter(([, value]) => value !== null));
    return people.length > 0 ? { ...set, people } : set;
  },
};

const profileFault = (name: string, settings: ListSettings) =>
  faultOf('name', existingNameFault(name)) ?? settingFaults(settings).map(([field, fault]) => faultOf(field, fault))[0];

export const LIST_LINE: Line<SavedList> = {
  read: reader(ListShape, ({ id, name, default: isDefault, ...rest }) => {
    const settings = settingsOf(rest);
    return profileFault(name, settings) ?? { id, name, isDefault, ...settings };
  }),
  write: (list) => ({ id: list.id, name: list.name, default: list.isDefault, ...settingsJson(list) }),
};

export const FEED_LINE: Line<SavedFeed> = {
  read: reader(FeedShape, ({ id, name, all_lists: all, lists, always = [], ...rest }) => {
    if (all && lists.length > 0) return 'lists: a feed of all lists names none';
    const settings = settingsOf(rest);
    if (!all && always.some((list) => !lists.includes(list))) return 'always: names a list that the feed is not made of';
    return profileFault(name, settings) ?? { id, name, lists: all ? null : lists, ...settings, ...makingOf(rest), always };
  }),
  write: (feed) => ({
    id: feed.id,
    name: feed.name,
    all_lists: feed.lists === null,
    lists: feed.lists ?? [],
    ...feedSettingsJson(feed),
    ...makingJson(feed),
  }),
};

export const KEY_LINE: Line<SavedKey> = {
  read: reader(KeyShape, (line) => {
    const key: SavedKey = {
      id: line.id,
      name: line.name,
      prefix: line.prefix,
      hash: Buffer.from(line.hash, 'hex'),
      permissions: line.permissions,
      listId: line.list_id,
      feedId: line.feed_id ?? null,
      networks: line.from ?? [],
      createdAt: ms(line.created_at),
      expiresAt: msOrNull(line.expires_at),
      revokedAt: msOrNull(line.revoked_at),
      lastUsedAt: msOrNull(line.last_used_at),
    };
    const fault = faultOf('name', key.name === null ? null : existingNameFault(key.name)) ?? faultOf('permissions', bindingFault(key));
    return fault ?? unchanged(line, key, KEY_LINE.write(key));
  }),
  write: (key) => ({
    id: key.id,
    name: key.name,
    prefix: key.prefix,
    hash: Buffer.from(key.hash).toString('hex'),
    permissions: key.permissions,
    list_id: key.listId,
    ...(key.feedId !== null && { feed_id: key.feedId }),
    ...(key.networks.length > 0 && { from: key.networks }),
    created_at: isoTime(key.createdAt),
    expires_at: isoTime(key.expiresAt),
    revoked_at: isoTime(key.revokedAt),
    last_used_at: isoTime(key.lastUsedAt),
  }),
};

export const RULE_LINE: Line<SavedRule> = {
  read: reader(Type.Object({ kind: oneOf(KINDS) }), (line): SavedRule | string => {
    const { kind } = line;
    const rule = kind === 'access_rule' ? accessRule(line) : expressionRule(line);
    if (typeof rule === 'string') return rule;
    const { created_at, updated_at, list_id = null } = line as unknown as { created_at: string; updated_at: string; list_id?: string };
    const past = pastOf(line);
    if (typeof past === 'string') return past;
    const { origin, before } = past;
    const earlier = before && RULE_LINE.read(before);
    if (typeof earlier === 'string') return `before.${earlier}`;
    const saved = landed({
      ...{ kind, listId: kind === 'access_rule' ? list_id : null, rule, createdAt: ms(created_at), updatedAt: ms(updated_at) },
      ...{ ...(origin && { origin }), ...(earlier && { before: earlier }) },
    });
    return typeof saved === 'string' ? saved : unchanged(line, saved, RULE_LINE.write(saved));
  }),
  write(saved) {
    const { id: _, ...line } = ruleJson({ ...saved, id: 0 });
    const past = {
      ...(saved.origin && originJson(saved.origin)),
      ...(saved.before && { before: RULE_LINE.write(saved.before) }),
    };
    return { ...line, ...('target' in saved.rule && { target: writeTarget(saved.rule.target) }), ...past };
  },
};

const PastShape = Type.Object({
  batch_id: optional(uuid),
  key_id: optional(uuid),
  actor: optional(text),
  person: optional(text),
  before: optional(Type.Unsafe<Record<string, unknown>>({ type: 'object' })),
});

/** Missing in older files. */
const pastOf = reader(PastShape, ({ batch_id: batchId = null, key_id: keyId = null, actor, person, before }) => {
  const origin: RuleOrigin = { batchId, keyId, ...(actor && { actor }), ...(person && { personId: person }) };
  return { origin: (batchId ?? keyId ?? actor ?? person ?? null) === null ? undefined : origin, before: before ?? undefined };
});

/** The rule after its signals have landed. */
function landed(saved: SavedRule): SavedRule | string {
  const { signal, receivedAt } = ruleToSignals(saved).at(-1)!;
  const message = encodeMessage(signal, { organizationId: '-', workspaceId: '-', listId: undefined, receivedAt, signalId: '-' });
  const record = decodeSignalRecord({ ...message, offset: 0, timestamp: receivedAt });
  if ('poison' in record) return `expires_at: no signal that lands has this expiry (${record.poison})`;
  return { ...saved, rule: (record.change as { rule: SavedRule['rule'] }).rule };
}

const accessRule = reader(AccessRuleShape, (line): AccessRule | string => {
  const target = onlyTarget(line.target);
  if (typeof target === 'string') return `target.${target}`;
  const { action, confidence, severity } = line;
  return { ...shared(line), ruleRef: line.rule_ref, target, action, confidence, severity };
});

const expressionRule = reader(ExpressionRuleShape, (line): ExpressionRule | string => {
  const { type, expression, action, order } = line;
  return { ...shared(line), ruleRef: line.rule_ref, type, expression, action, order, shortDescription: line.short_description };
});

const shared = ({ name, reason, labels, config, expires_at }: Static<typeof AccessRuleShape> | Static<typeof ExpressionRuleShape>) => ({
  name,
  reason,
  labels,
  config,
  expiresAt: msOrNull(expires_at),
});

export function onlyTarget(wire: Record<string, unknown>): Target | string {
  const [field, ...others] = TARGET_FIELDS.filter((name) => typeof wire[name] === 'string');
  if (field === undefined || others.length > 0) return 'ip/asn/country: exactly one must be given';
  const target = readTarget(field, wire[field] as string);
  return typeof target === 'string' ? `${field}: ${target}` : target;
}
