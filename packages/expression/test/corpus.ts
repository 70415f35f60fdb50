/** Labelled files of fixtures/: the enforcement engine's result for each line. */
import { readFileSync } from 'node:fs';
import type { SchemeKind } from '../scheme.ts';

interface LabelledExpression {
  readonly kind: SchemeKind;
  readonly expression: string;
  readonly valid: boolean;
  /** Depends on the choice of scheme or engine version, on named lists or on a size limit. */
  readonly doubtful?: boolean;
  readonly phase?: 'request' | 'response';
  readonly line?: number;
  readonly column?: number;
}

interface LabelledRegex {
  readonly pattern: string;
  readonly valid: boolean;
}

function read<T>(name: string): readonly T[] {
  const text = readFileSync(new URL(`fixtures/${name}`, import.meta.url), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as T);
}

export const expressions = read<LabelledExpression>('expressions.jsonl');
export const regexes = read<LabelledRegex>('regexes.jsonl');
