/** The phase of WAF rules whose senders did not say it. */
import { parseExpression } from '@weir/expression/parser.ts';
import type { Schemes } from '@weir/expression/scheme.ts';
import type { PhaseOf } from '../feed/build/render-rules.ts';
import { isExpressionKind } from '../rule.ts';
import { readSchemes } from './schemes.ts';

/** Expressions whose phase is remembered. */
const REMEMBERED = 10_000;

/** Tells the phase of an expression by the fields that it uses. `file` is SCHEMES_FILE, read at the first question. */
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
