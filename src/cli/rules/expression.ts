import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { buffer } from 'node:stream/consumers';
import { faultExcerpt, faultLine, type ParseError } from '@weir/expression/fault.ts';
import { WeirError } from '../../errors.ts';
import { judgeExpression, type Verdict } from '../../manage/expressions/check.ts';
import { EXPRESSION_KINDS, type ExpressionKind } from '../../rule.ts';
import { readSchemes } from '../../runtime/schemes.ts';
import type { AddCommand } from '../command.ts';
import { printable, writeLine } from '../context.ts';
import { oneOf } from '../usage.ts';

/** `file`: null for standard input and the command line. */
interface Source {
  readonly file: string | null;
  /** Its first line in a file with one expression a line; null: the whole file. */
  readonly line: number | null;
  readonly expression: string;
}

const STANDARD_INPUT = '-';

export function expressionCommands(add: AddCommand): void {
  add(
    'expression check [files...]',
    'check filter expressions, one a file; what names no file is an expression; without any, or for -, standard input',
    (c) =>
      c
        .requiredOption('--kind <kind>', EXPRESSION_KINDS.join(' or '), oneOf('--kind', EXPRESSION_KINDS))
        .option('--lines', 'each line is an expression of its own; empty lines are skipped'),
    {
      async run(context, files, options) {
        const scheme = readSchemes(context.config.schemesFile)[options.kind as ExpressionKind];
        const print = options.json ? verdictJson : verdictText;
        for (const argument of files.length > 0 ? files : [STANDARD_INPUT]) {
          const isExpression = !options.lines && argument !== STANDARD_INPUT && !existsSync(argument);
          for (const source of isExpression ? whole(null, argument) : await readSources(argument, options.lines)) {
            const verdict = judgeExpression(source.expression, scheme);
            if (verdict.fault !== null) {
              if (isExpression) refuseName(argument, verdict.fault);
              context.exitCode = 1;
            }
            await writeLine(context.stdout, print(source, verdict));
          }
        }
      },
      show: () => '',
    },
  );
}

/** A faulty expression without a space is probably the name of a missing file. */
function refuseName(argument: string, fault: ParseError): void {
  if (/\s/.test(argument)) return;
  throw new WeirError('USAGE', `there is no file "${argument}", and it is no expression either: ${faultLine(fault)}`);
}

async function readSources(file: string, isLines: boolean): Promise<Source[]> {
  const text = await readText(file);
  return (isLines ? lines : whole)(file === STANDARD_INPUT ? null : file, text);
}

/** Without a byte order mark. */
async function readText(file: string): Promise<string> {
  const bytes = file === STANDARD_INPUT ? await buffer(process.stdin) : await readFile(file);
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    throw new WeirError('USAGE', `${file === STANDARD_INPUT ? 'standard input' : file} is not UTF-8`);
  }
}

/** Without the line break at the end. */
const whole = (file: string | null, text: string): Source[] => [{ file, line: null, expression: text.replace(/\r?\n$/, '') }];

const lines = (file: string | null, text: string): Source[] =>
  text
    .split(/\r?\n/)
    .map((expression, index) => ({ file, line: index + 1, expression }))
    .filter(({ expression }) => expression.trim() !== '');

const inFile = (fault: ParseError, { line }: Source): ParseError => ({ ...fault, line: fault.line + (line ?? 1) - 1 });

function verdictText(source: Source, verdict: Verdict): string {
  const { file, line, expression } = source;
  const prefix = file === null ? '' : `${file}: `;
  if (verdict.fault !== null) return `${prefix}${faultLine(inFile(verdict.fault, source))}\n${faultExcerpt(expression, verdict.fault)}`;
  const { phase, fields, hints } = verdict;
  const uses = `uses ${fields.length > 0 ? fields.join(', ') : 'no field'}`;
  const valid = `${prefix}${line === null ? '' : `line ${line}: `}valid${phase === null ? '' : `, ${phase} phase`}, ${uses}`;
  return [valid, ...hints.map((hint) => `  hint: ${printable(hint)}`)].join('\n');
}

function verdictJson(source: Source, verdict: Verdict): string {
  const { file, expression } = source;
  const { line, column, length, text } = verdict.fault === null ? NO_FAULT : inFile(verdict.fault, source);
  const { phase, fields, hints } = verdict.fault === null ? verdict : UNKNOWN;
  return JSON.stringify({ file, expression, valid: verdict.fault === null, line, column, span: length, text, phase, fields, hints });
}
const NO_FAULT = { line: null, column: null, length: null, text: null };
const UNKNOWN = { phase: null, fields: null, hints: null };
