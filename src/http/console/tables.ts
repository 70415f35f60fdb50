/** Modules written from the service's tables and schemas: what forms offer, and within which limits. */
import { FEED_SETTINGS } from '../../account/feed.ts';
import { IMPLIED_PERMISSIONS, PERMISSION_LABELS, PERMISSIONS, WORKSPACE_PERMISSIONS } from '../../account/permission.ts';
import { ROLE_LABELS, ROLE_NAMES, ROLES } from '../../account/role.ts';
import { TARGETS } from '../../account/target.ts';
import { FORMAT_NAMES } from '../../feed/formats/table.ts';
import { FAMILIES } from '../../feed/variant.ts';
import { OPERATIONS } from '../../manage/table.ts';
import { ACCESS_ACTIONS, KINDS, LEVELS, RULE_KINDS } from '../../rule.ts';

const FORMS = [
  ...['createList', 'createFeed', 'createKey', 'createSource', 'createWebhook', 'changeWorkspace'],
  ...['blockTarget', 'putExpressionRule', 'limitSample'],
];
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  createSource: ['name', 'url', 'purpose', 'every', 'paths', 'where', 'column', 'signers'],
};

/** Labels of fields; a field without one is labelled by its name. */
const LABELS: Readonly<Record<string, string>> = {
  every: 'Interval',
  fit: 'If over the limit',
  from: 'Allowed from',
  host_style: 'Address style',
  large: 'Large changes',
  large_addresses: 'Large from addresses',
  large_networks: 'Large from networks of a feed',
  large_percent: 'Large from percent of a feed',
  approval: 'Approval by a second person',
  approval_addresses: 'Approval from addresses',
  approval_rules: 'Approval from rules',
  approval_percent: 'Approval from percent',
  max_entries: 'Entry limit',
  min_prefix_v4: 'Shortest IPv4 prefix',
  min_prefix_v6: 'Shortest IPv6 prefix',
  min_sources: 'Minimum number of lists',
  origins: 'Bouncers count by',
  protect: 'Protected networks',
  rule_ref: 'Reference',
  sample_rules: 'Rules',
  max_sample_share: 'Limit in percent',
  short_description: 'Description',
  subtract_allow: 'Subtract never-block rules',
  target: 'Device',
  type: 'Written by',
  widen_v4: 'Widen IPv4 addresses',
  widen_v6: 'Widen IPv6 addresses',
  url: 'URL',
};

/** As the API document has it. */
interface Schema {
  readonly type?: string | readonly string[];
  readonly enum?: readonly (string | null)[];
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly format?: string;
  readonly items?: { readonly format?: string };
  readonly description?: string;
}

const LONGEST_NAME = 200;
const sentence = (text: string) => `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`;
const named = (field: string) => LABELS[field] ?? sentence(field.replaceAll('_', ' ')).slice(0, -1);
const ALIASES = new Set(Object.values(FEED_SETTINGS).flatMap((setting) => Object.keys(('aliases' in setting && setting.aliases) || {})));

function fieldOf(field: string, schema: Schema) {
  const values = schema.enum?.filter((value) => value !== null && !ALIASES.has(value));
  const kind = [schema.type].flat();
  const isOfChoices = schema.description?.split(/\W+/).every((word) => word === 'or' || values?.includes(word));
  return {
    field,
    label: named(field),
    ...(schema.description !== undefined && !isOfChoices && { hint: sentence(schema.description) }),
    ...(values !== undefined && {
      options: values.map((value) => (TARGETS[value!] === undefined ? String(value) : { value, label: TARGETS[value!]!.title })),
    }),
    ...((schema.maxLength ?? schema.format === 'name') && { maxlength: schema.maxLength ?? LONGEST_NAME }),
    ...(kind.some((each) => each === 'integer' || each === 'number') && { number: true }),
    ...(kind.includes('array') && { list: schema.items?.format === 'text' ? 'lines' : 'words' }),
  };
}

const fieldsOf = (name: string) => {
  const { body } = OPERATIONS.find((operation) => operation.name === name)!;
  return Object.entries(body!.properties as Readonly<Record<string, Schema>>)
    .filter(
      ([field, { type }]) =>
        ![type].flat().some((each) => each === 'object' || each === 'boolean') && (FIELDS[name]?.includes(field) ?? true),
    )
    .map(([field, schema]) => fieldOf(field, schema));
};

/** What events of the audit log begin with. */
const WORDS = [...new Set(OPERATIONS.flatMap(({ audit }) => audit?.slice(0, audit.lastIndexOf(' ')) ?? []))];
const EVENTS = ['person', ...WORDS.filter((word) => !WORDS.some((other) => other !== word && word.startsWith(other)))];

const TABLES = {
  FORMATS: FORMAT_NAMES,
  FAMILIES,
  ACTIONS: ACCESS_ACTIONS,
  LEVELS,
  RULE_ACTIONS: Object.fromEntries(KINDS.map((kind) => [kind, RULE_KINDS[kind].actions])),
  IMPLIED: IMPLIED_PERMISSIONS,
  PERMISSIONS: PERMISSIONS.map((value) => ({ value, label: PERMISSION_LABELS[value], whole: WORKSPACE_PERMISSIONS.includes(value) })),
  ROLES: ROLE_NAMES.map((value) => ({ value, label: ROLE_LABELS[value], permissions: ROLES[value] })),
  EVENTS,
};

const moduleOf = (exports: object) =>
  Object.entries(exports)
    .map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};\n`)
    .join('');

/** By path. */
export const tableModules = (): ReadonlyMap<string, string> =>
  new Map([
    ['tables.js', moduleOf(TABLES)],
    ['schemas.js', moduleOf({ SCHEMAS: Object.fromEntries(FORMS.map((name) => [name, fieldsOf(name)])) })],
  ]);
