/** SPEC D15.40, D19.15. */

import { encodeText } from '@weir/expression/bytes.ts';
import { faultExcerpt, faultLine } from '@weir/expression/fault.ts';
import type { Scheme } from '@weir/expression/scheme.ts';
import type { FunctionSignature } from '@weir/expression/signature.ts';
import { answerOf, exampleOf, type Fields, listOf, nullable, objectOf, Type, wordField } from '../../json/schema.ts';
import { EXPRESSION_KINDS, type ExpressionKind } from '../../rule.ts';
import { judgeExpression } from '../expressions/check.ts';
import { fieldFault, type Operation, operation } from '../operation.ts';

const FAULT = {
  line: 1,
  column: [4, 'In bytes of UTF-8, from 1.'],
  length: [5, 'Length of the faulty part, bytes.'],
  text: 'unknown field',
  excerpt: ['  ip.sorce eq 192.0.2.1\n     ^^^^^', 'The faulty line, with carets under the fault.'],
} as const satisfies Fields;

const HINTS = [[], Type.Array(Type.String(), { description: 'Likely mistakes.' })] as const;

export const EXPRESSION_OPERATIONS: readonly Operation[] = [
  operation('listExpressionNames', 'GET /expressions/names', 'rules:read', {
    summary: 'List the fields and functions of expressions, with their types',
    query: Type.Object({ kind: wordField(EXPRESSION_KINDS, 'Default: waf_rule.') }),
    answer: answerOf('ExpressionNames', {
      names: listOf({
        name: 'http.request.path',
        kind: ['field', Type.Enum(['field', 'function'])],
        type: ['Bytes', 'The type of a field, or the return type of a function.'],
        takes: [null, nullable(Type.String({ description: 'Parameters of a function; null for a field.' }))],
      }),
    }),
    run: async ({ schemes }, { query: { kind = 'waf_rule' } }) => ({ names: expressionNames(schemes[kind as ExpressionKind]) }),
  }),
  operation('checkExpression', 'POST /expressions/check', 'rules:read', {
    summary: 'Check an expression like the signal endpoint',
    body: Type.Object({ kind: Type.Enum([...EXPRESSION_KINDS]), expression: Type.String() }),
    answer: answerOf('ExpressionVerdict', {
      valid: false,
      phase: [null, nullable(Type.String({ description: 'The required phase; null for kinds without phases.' }))],
      fields: [[], Type.Array(Type.String(), { description: 'The fields it uses.' })],
      hints: HINTS,
      fault: [exampleOf(FAULT), nullable(objectOf(FAULT))],
    }),
    examples: [{ kind: 'waf_rule', expression: 'http.request.path contains "/login"' }],
    async run({ schemes }, { body: { kind, expression } }) {
      const verdict = judgeExpression(expression, schemes[kind as ExpressionKind]);
      if (verdict.fault === null) return { valid: true, phase: verdict.phase, fields: verdict.fields, hints: verdict.hints, fault: null };
      return {
        valid: false,
        phase: null,
        fields: [],
        hints: [],
        fault: { ...verdict.fault, excerpt: faultExcerpt(expression, verdict.fault) },
      };
    },
  }),
  operation('testExpression', 'POST /expressions/test', 'rules:read', {
    summary: 'Evaluate an expression for a request, with an explanation',
    description: 'A workspace can run one test at a time.',
    body: Type.Object({
      kind: Type.Enum([...EXPRESSION_KINDS]),
      expression: Type.String(),
      request: Type.String({ description: 'Fields by name as JSON, a HAR entry, a curl command, or a line of an access log.' }),
    }),
    answer: answerOf('ExpressionTested', {
      result: [true, nullable(Type.Boolean({ description: 'null if the evaluation fails.' }))],
      error: [null, nullable(Type.String({ description: 'The reason of the failure.' }))],
      why: [
        {
          text: 'http.request.path contains "/login"',
          value: true,
          state: 'value',
          parts: [{ text: 'http.request.path', value: '/login', state: 'value', parts: [] }],
        },
        Type.Object(
          {},
          { additionalProperties: true, description: 'The expression and its parts with their values: text, value, state, parts.' },
        ),
      ],
      lacking: [[], Type.Array(Type.String(), { description: 'Fields that the expression reads and the request does not contain.' })],
      agent: [
        { result: true, error: null },
        nullable(
          Type.Object(
            { result: nullable(Type.Boolean()), error: nullable(Type.String()) },
            { description: 'The result for the request as the agent sees it.' },
          ),
        ),
      ],
      hints: HINTS,
    }),
    examples: [{ kind: 'waf_rule', expression: 'http.request.path contains "/login"', request: '{"http.request.path": "/login"}' }],
    async run({ schemes, testExpression, inTurn, workspaceId }, { body: { kind: name, expression, request } }) {
      const kind = name as ExpressionKind;
      const { fault } = judgeExpression(expression, schemes[kind]);
      if (fault !== null) throw fieldFault('expression', faultLine(fault));
      const text = encodeText(request);
      const tested = await inTurn(() => testExpression({ kind, expression, request: text }), `expression ${workspaceId}`);
      if (typeof tested === 'string') throw fieldFault('request', `cannot be used: ${tested}`);
      return tested;
    },
  }),
];

export interface ExpressionName {
  readonly name: string;
  readonly kind: 'field' | 'function';
  /** Of a function: the return type. */
  readonly type: string;
  /** Such as `field Bytes, Bytes`; null for a field. */
  readonly takes: string | null;
}

const QUANTIFIERS: readonly ExpressionName[] = ['any', 'all'].map((name) => ({
  name,
  kind: 'function',
  type: 'Bool',
  takes: 'Array(Bool)',
}));

/** Sorted: fields first. */
export function expressionNames({ names }: Scheme): ExpressionName[] {
  const all = [...names.values()].map(
    (each): ExpressionName =>
      each.kind === 'field'
        ? { name: each.name, kind: 'field', type: each.type.text, takes: null }
        : { name: each.name, kind: 'function', type: each.returns?.text ?? 'type of first', takes: takesOf(each) },
  );
  return [...all, ...QUANTIFIERS].toSorted((a, b) => a.kind.localeCompare(b.kind) || (a.name < b.name ? -1 : 1));
}

const takesOf = ({ parameters, required, most }: FunctionSignature): string =>
  parameters
    .map(({ takes, types, anyArray, asFirst }, i) => {
      const accepted = asFirst ? ['type of first'] : [...types.map(({ text }) => text), ...(anyArray ? ['Array'] : [])];
      const text = `${takes === null ? '' : `${takes} `}${accepted.join(' or ')}`;
      if (i >= required) return `[${text}]`;
      return most === Number.POSITIVE_INFINITY && i === parameters.length - 1 ? `${text}, …` : text;
    })
    .join(', ');
