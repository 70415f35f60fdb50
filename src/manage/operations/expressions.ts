/** Trying filter expressions (SPEC D15.40, D19.15). */

import { encodeText } from '@weir/expression/bytes.ts';
import { faultExcerpt, faultLine } from '@weir/expression/fault.ts';
import { answerOf, exampleOf, type Fields, listOf, nullable, objectOf, Type, wordField } from '../../json/schema.ts';
import { EXPRESSION_KINDS, type ExpressionKind } from '../../rule.ts';
import { judgeExpression } from '../expressions/check.ts';
import { expressionNames } from '../expressions/names.ts';
import { fieldFault, type Operation, operation } from '../operation.ts';

const FAULT = {
  line: 1,
  column: [4, 'In bytes of UTF-8, from 1.'],
  length: [5, 'Bytes of the faulty stretch.'],
  text: 'unknown field',
  excerpt: ['  ip.sorce eq 192.0.2.1\n     ^^^^^', 'The line at fault, with carets under it.'],
} as const satisfies Fields;

const HINTS = [[], Type.Array(Type.String(), { description: 'What the author may not have meant.' })] as const;

export const EXPRESSION_OPERATIONS: readonly Operation[] = [
  operation('listExpressionNames', 'GET /expressions/names', 'rules:read', {
    summary: 'The fields and functions that filter expressions may use, with their types',
    query: Type.Object({ kind: wordField(EXPRESSION_KINDS, 'waf_rule when absent.') }),
    answer: answerOf('ExpressionNames', {
      names: listOf({
        name: 'http.request.path',
        kind: ['field', Type.Enum(['field', 'function'])],
        type: ['Bytes', 'Of a field its own; of a function what it returns.'],
        takes: [null, nullable(Type.String({ description: 'What a function takes; null for a field.' }))],
      }),
    }),
    run: async ({ schemes }, { query: { kind = 'waf_rule' } }) => ({ names: expressionNames(schemes[kind as ExpressionKind]) }),
  }),
  operation('checkExpression', 'POST /expressions/check', 'rules:read', {
    summary: 'Judge a filter expression as the signal endpoint does',
    body: Type.Object({ kind: Type.Enum([...EXPRESSION_KINDS]), expression: Type.String() }),
    answer: answerOf('ExpressionVerdict', {
      valid: false,
      phase: [null, nullable(Type.String({ description: 'The phase that it needs; null for kinds without one.' }))],
      fields: [[], Type.Array(Type.String(), { description: 'The fields that it uses.' })],
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
    summary: 'Tell what a filter expression is for a request, and why',
    description: 'One test of a workspace runs at a time.',
    body: Type.Object({
      kind: Type.Enum([...EXPRESSION_KINDS]),
      expression: Type.String(),
      request: Type.String({ description: 'Fields by name as JSON, an entry of a HAR, a curl command or a line of an access log.' }),
    }),
    answer: answerOf('ExpressionTested', {
      result: [true, nullable(Type.Boolean({ description: 'null when the evaluation fails.' }))],
      error: [null, nullable(Type.String({ description: 'Why it fails.' }))],
      why: [
        {
          text: 'http.request.path contains "/login"',
          value: true,
          state: 'value',
          parts: [{ text: 'http.request.path', value: '/login', state: 'value', parts: [] }],
        },
        Type.Object(
          {},
          { additionalProperties: true, description: 'The expression with each part and its value: text, value, state, parts.' },
        ),
      ],
      lacking: [[], Type.Array(Type.String(), { description: 'What the expression reads and the request lacks.' })],
      agent: [
        { result: true, error: null },
        nullable(
          Type.Object(
            { result: nullable(Type.Boolean()), error: nullable(Type.String()) },
            { description: 'As the agent sees the request.' },
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
