/** Derives the phase of WAF rules sent without one. */
import { parseExpression } from '@weir/expression/parser.ts';
import type { Schemes } from '@weir/expression/scheme.ts';
import type { PhaseOf } from '../feed/build/render-rules.ts';
import { isExpressionKind } from '../rule.ts';
import { readSchemes } from './schemes.ts';

/** Cache size. */
const REMEMBERED = 10_000;

/** By the fields that an expression uses. `file`: SCHEMES_FILE, read at the first call. */
export function phaseDetector(file: string | undefined): PhaseOf {
  const known = new Map<string, ReturnType<PhaseOf>>();
  let schemes: Schemes | undefined;
  return (kind, expression) => {
    if (!isExpressionKind(kind)) return 'request';
    const key = `${kind} ${expression}`;
    const remembered = known.get(key);
    if (remembered !== undefined) return remembered;
    schemes ??= readSchemes(file);
    const parsed = parseExpression(expression, schemes[kind]);
    const phase = parsed.ok ? parsed.phase : 'request';
    if (known.size >= REMEMBERED) known.clear();
    known.set(key, phase);
    return phase;
  };
}
