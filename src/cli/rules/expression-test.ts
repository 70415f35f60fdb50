import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { pairEvaluator } from '@weir/expression/evaluate/pairs.ts';
import { faultExcerpt, faultLine } from '@weir/expression/fault.ts';
import { WeirError } from '../../errors.ts';
import { judgeExpression } from '../../manage/expressions/check.ts';
import { type Tested, testExpression } from '../../manage/expressions/expression-test.ts';
import { decompressed, pieces, TOO_LONG } from '../../recording/bytes.ts';
import { EXPRESSION_KINDS, type ExpressionKind } from '../../rule.ts';
import { readSchemes } from '../../runtime/schemes.ts';
import type { AddCommand } from '../command.ts';
import { type Context, printable, writeLine } from '../context.ts';
import { openInput } from '../signals/input.ts';
import { oneOf } from '../usage.ts';

/** Bytes. */
const MAX_REQUEST = 16 * 1024 * 1024;

export function expressionTestCommand(add: AddCommand): void {
  add(
    'expression test [expression]',
    'evaluate an expression (or the one in a file) for a request, and explain the result; with --pairs for many',
    (c) =>
      c
        .option('--request <file>', 'a request: JSON, a curl command, an entry of a HAR or a line of an access log; "-" is standard input')
        .option(
          '--pairs <file>',
          'lines {id, scheme, expression, request}; writes lines {id, result} or {id, error}; "-" is standard input',
        )
        .option('--kind <kind>', EXPRESSION_KINDS.join(' or '), oneOf('--kind', EXPRESSION_KINDS), 'waf_rule'),
    {
      async run(context, [argument], options) {
        const schemes = readSchemes(context.config.schemesFile);
        if (options.pairs !== undefined) {
          if (argument !== undefined || options.request !== undefined)
            throw new WeirError('USAGE', '--pairs takes neither an expression nor --request');
          await testPairs(context, options.pairs, pairEvaluator(schemes));
          return undefined;
        }
        if (argument === undefined || options.request === undefined)
          throw new WeirError('USAGE', 'give an expression and --request FILE, or --pairs FILE');
        const expression = existsSync(argument) ? (await readFile(argument, 'utf8')).replace(/\r?\n$/, '') : argument;
        const scheme = schemes[options.kind as ExpressionKind];
        const verdict = judgeExpression(expression, scheme);
        if (verdict.fault !== null) throw new WeirError('USAGE', `${faultLine(verdict.fault)}\n${faultExcerpt(expression, verdict.fault)}`);
        const tested = testExpression(expression, scheme, await readRequest(options.request));
        if (typeof tested === 'string') throw new WeirError('USAGE', `${options.request}: ${printable(tested)}`);
        if (tested.result !== true) context.exitCode = 1;
        return tested;
      },
      show: (tested) => (tested === undefined ? '' : testedText(tested)),
    },
  );
}

async function readRequest(file: string): Promise<string> {
  const { chunks } = await openInput(file);
  const parts: Buffer[] = [];
  let length = 0;
  for await (const chunk of decompressed(chunks)) {
    parts.push(chunk);
    length += chunk.length;
    if (length > MAX_REQUEST)
      throw new WeirError('USAGE', `${file} is larger than ${MAX_REQUEST / 1024 / 1024} MiB; weir backtest reads recordings`);
  }
  return Buffer.concat(parts).toString('latin1');
}

const MOST_BUFFERED = 64 * 1024;

async function testPairs({ stdout }: Context, file: string, evaluate: (line: string) => string): Promise<void> {
  const { chunks } = await openInput(file);
  for await (const lines of pieces(decompressed(chunks))) {
    let text = '';
    for (const line of lines) {
      if (line === TOO_LONG) text += `${JSON.stringify({ id: null, error: 'the line is too long' })}\n`;
      else if (line.trim() !== '') text += `${evaluate(line)}\n`;
      if (text.length < MOST_BUFFERED) continue;
      await writeLine(stdout, text.slice(0, -1));
      text = '';
    }
    if (text !== '') await writeLine(stdout, text.slice(0, -1));
  }
}

function testedText({ result, error, why, lacking, agent, hints }: Tested): string {
  const lines = [error === null ? String(result) : `cannot be evaluated: ${error}`, '', ...partLines(why, 0)];
  if (lacking.length > 0) lines.push('', `not in the request, so the default of the engine counts: ${lacking.join(', ')}`);
  if (agent !== null) lines.push('', `as the agent sees the request: ${agent.error ?? agent.result}`);
  if (hints.length > 0) lines.push('', ...hints.map((hint) => `hint: ${hint}`));
  return lines.map(printable).join('\n');
}

function partLines({ text, value, state, parts }: Tested['why'], depth: number): string[] {
  const shown = state === 'value' ? JSON.stringify(value) : state === 'failed' ? `failed: ${value}` : state;
  return [`${'  '.repeat(depth)}${shown}  ←  ${text}`, ...parts.flatMap((part) => partLines(part, depth + 1))];
}
