/** Same checks as the signal endpoint (spec 2.4). */
import { locate, type ParseError } from '@weir/expression/fault.ts';
import { hintsOf } from '@weir/expression/hints/hints.ts';
import { parseExpression } from '@weir/expression/parser.ts';
import type { Scheme } from '@weir/expression/scheme.ts';
import { RULE_KINDS } from '../../rule.ts';
import { LIMITS } from '../../signal/limits.ts';

/** `phase` is null for kinds without phases. */
export type Verdict =
  | { readonly fault: ParseError }
  | {
      readonly fault: null;
      readonly phase: string | null;
      readonly fields: readonly string[];
      /** Likely mistakes (SPEC D19.11). */
      readonly hints: readonly string[];
    };

export function judgeExpression(expression: string, scheme: Scheme): Verdict {
  const characters = Array.from(expression);
  if (characters.length > LIMITS.expression) {
    const most = characters.slice(0, LIMITS.expression).join('').length;
    return { fault: locate(expression, most, expression.length, `must be at most ${LIMITS.expression} characters`) };
  }
  const nul = expression.indexOf('\0');
  if (nul !== -1) return { fault: locate(expression, nul, nul + 1, 'must not hold U+0000') };
  const parsed = parseExpression(expression, scheme);
  if (!parsed.ok) return { fault: parsed.fault };
  if (parsed.regexes > LIMITS.regexes) {
    const text = `must hold at most ${LIMITS.regexes} regular expressions, holds ${parsed.regexes}`;
    return { fault: locate(expression, 0, expression.length, text) };
  }
  const phase = RULE_KINDS[scheme.kind].hasPhase ? parsed.phase : null;
  return { fault: null, phase, fields: parsed.fields, hints: hintsOf(parsed.ast, scheme) };
}
