import { exampleOf, type Fields, nullable, objectOf, Type } from '../../json/schema.ts';
import { RULE } from '../../manage/operations/rules/rule-schema.ts';
import { isExpressionKind, KINDS, type Kind, RULE_KINDS } from '../../rule.ts';
import type { Address } from '../address.ts';
import { type About, type Api, BEARER, headerParameter, jsonOf, queryParameters, reference } from '../docs/openapi.ts';
import type { HttpFault } from '../errors.ts';
import { DATE, documentAnswers, documentFaults, ETAG, FeedError, GZIP, listFaults } from '../feeds/openapi.ts';
import { documentRefusalOf } from '../feeds/refusals.ts';
import { calledRules, OF_LISTS, OF_WORKSPACE, pathOfKind, readRulesQuery } from './query.ts';
import { belongsToWorkspace } from './read.ts';

const { batch_id: _, key_id: __, warning: ___, ...STORED } = RULE;
const PHASE = {
  phase: [undefined, Type.Optional(Type.Enum(['request', 'response']))],
  phase_detected: [
    undefined,
    Type.Optional(Type.Boolean({ description: 'True if the sender gave no phase and weir derived it from the expression.' })),
  ],
} as const satisfies Fields;

const Rules = objectOf(
  {
    rules: [
      [],
      Type.Array(objectOf({ ...STORED, ...PHASE }), {
        description: 'In order of enforcement: by order (rules without one last), then rule_ref; access rules by id.',
      }),
    ],
    next: [null, nullable(Type.String(), { description: 'Value of after for the next page; null for the last page.' })],
  },
  { title: 'Rules' },
);

const EXAMPLES: Readonly<Record<'target' | 'expression', (kind: Kind) => object>> = {
  target: () => exampleOf(STORED),
  expression: (kind) => {
    if (!isExpressionKind(kind)) throw new Error(`${kind} has no expression`);
    const { list_id, target, confidence, severity, ...rule } = exampleOf(STORED);
    const { ruleRef, type, expression, action, order = null, name = null } = { order: null, name: null, ...RULE_KINDS[kind].example };
    const phase = RULE_KINDS[kind].hasPhase ? { phase: 'request', phase_detected: true } : {};
    return { ...rule, id: 8, kind, rule_ref: ruleRef, name, type, expression, action, order, short_description: null, ...phase };
  },
};

const COMMON = {
  label: { description: 'Only rules with this label, as name:value.', schema: { examples: ['source:soc'] } },
  after: 'The page after the one with this next.',
  limit: {
    description: 'Maximum number of rules in a page. Without limit and after, the document is complete.',
    schema: { type: 'integer', minimum: 1, maximum: 1000 },
  },
};
const PARAMETERS = {
  list: queryParameters(OF_LISTS, { list: 'Only the access rules of this list or feed, by UUID or name.', ...COMMON }),
  workspace: queryParameters(OF_WORKSPACE, { type: 'Only rules of this type.', ...COMMON }),
};
const CONDITIONS = [
  headerParameter('If-None-Match', 'Entity tags; takes precedence over If-Modified-Since.', ETAG),
  headerParameter('If-Modified-Since', 'An HTTP date; ignored with label, type, after or limit.', DATE),
  GZIP,
];

function about({ path }: Address): About {
  const kind = KINDS.find((each) => path === `/v1/rules/${pathOfKind(each)}`)!;
  const { holds, scope } = RULE_KINDS[kind];
  const name = pathOfKind(kind).replace(/(^|-)(\w)/g, (_, __, letter: string) => letter.toUpperCase());
  const example = { rules: [EXAMPLES[holds](kind)], next: null };
  return {
    id: `get${name}Rules`,
    summary: `Active ${calledRules(kind)}`,
    parameters: [...PARAMETERS[scope], ...CONDITIONS],
    answers: documentAnswers('The rules, or a page of them.', jsonOf(reference(Rules), calledRules(kind), example)),
    faults: {
      400: {
        says: 'Unsupported parameter, or malformed request.',
        examples: { 'unsupported parameter': readRulesQuery(kind, 'limit=0') as HttpFault },
      },
      403: { examples: { 'bound key': belongsToWorkspace('these rules') } },
      ...documentFaults(documentRefusalOf),
      ...(scope === 'list' && listFaults(documentRefusalOf)),
    },
  };
}

export const RULES_API: Api = {
  group: 'rules',
  title: 'Rules',
  description: 'The active rules of a workspace as stored, with validators, gzip and expiry to the second like feeds.',
  schemas: [Rules, FeedError],
  securitySchemes: { bearer: BEARER },
  error: FeedError,
  about,
};
