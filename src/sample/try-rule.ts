/** Effect of a rule on the requests of a sample (SPEC D21.3 to D21.6). */
import { formatAddress } from '@weir/expression/address.ts';
import { type ByteString, decodeText } from '@weir/expression/bytes.ts';
import { compileExpression } from '@weir/expression/evaluate/compile.ts';
import { CannotRun, EvaluationError, type Layout, layoutOf, type Request } from '@weir/expression/evaluate/value.ts';
import { hintsOf } from '@weir/expression/hints/hints.ts';
import { parseExpression } from '@weir/expression/parser.ts';
import type { Schemes } from '@weir/expression/scheme.ts';
import { addressSet, overlaps } from '@weir/network/address-set.ts';
import type { Network } from '@weir/network/network.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import type { GeoRanges } from '../ports/geo.ts';
import type { Recorded } from '../recording/exchange.ts';
import { requestOfRecorded } from '../recording/view.ts';
import type { ExpressionKind } from '../rule.ts';

/** A blocking or challenging rule: an expression, or the addresses of an access rule. */
export type TriedRule =
  | { readonly kind: ExpressionKind; readonly expression: string }
  | { readonly kind: 'access_rule'; readonly ranges: GeoRanges };

export type Tried =
  /** `first`: the first blocked request, as text. */
  | { readonly matches: number; readonly first: string | null; readonly hints?: readonly string[] }
  /** The rule cannot run or exceeded its time. `hints`: possible mistakes of the author. */
  | { readonly untried: string; readonly tooSlow: boolean; readonly hints?: readonly string[] };

export interface Budget {
  /** Time limit, ms. */
  readonly most: number;
  /** Monotonic clock, ms. */
  readonly monotonic: () => number;
}

export interface Sample {
  readonly requests: number;
  /** Synchronous, on the complete sample. */
  tryRule(rule: TriedRule, budget: Budget): Tried;
}

/** Requests between two checks of the clock. */
const CHECK_INTERVAL = 64;
const HINTS = 3;

/** Uses the agent's view of the requests. */
export function sampleOf(recorded: readonly Recorded[], schemes: Schemes): Sample {
  const layouts = new Map<ExpressionKind, { readonly layout: Layout; readonly requests: readonly Request[] }>();
  let clients: readonly (Network | undefined)[] | undefined;

  function prepared(kind: ExpressionKind) {
    let known = layouts.get(kind);
    if (known === undefined) {
      const layout = layoutOf(schemes[kind]);
      known = { layout, requests: recorded.map((each) => requestOfRecorded(layout, each, 'agent')) };
      layouts.set(kind, known);
    }
    return known;
  }

  function tryExpression(kind: ExpressionKind, expression: string, budget: Budget): Tried {
    const { layout, requests } = prepared(kind);
    const parsed = parseExpression(expression, schemes[kind]);
    if (!parsed.ok) return { untried: 'its expression does not parse', tooSlow: false };
    try {
      const run = compileExpression(parsed.ast, layout);
      const tried = count(requests, (request) => blocks(run, request), budget);
      return 'matches' in tried && tried.matches === 0 ? tried : { ...tried, hints: hintsOf(parsed.ast, schemes[kind]).slice(0, HINTS) };
    } catch (error) {
      if (error instanceof CannotRun) return { untried: `cannot be run: ${error.message}`, tooSlow: false };
      throw error;
    }
  }

  function count<T>(of: readonly T[], matches: (each: T) => boolean, { most, monotonic }: Budget): Tried {
    const end = monotonic() + most;
    let found = 0;
    let first: string | null = null;
    for (let i = 0; i < of.length; i++) {
      if (i % CHECK_INTERVAL === 0 && monotonic() > end)
        return { untried: `takes longer than ${most} ms on ${of.length} requests`, tooSlow: true };
      if (!matches(of[i])) continue;
      found += 1;
      first ??= requestText(recorded[i]);
    }
    return { matches: found, first };
  }

  return {
    requests: recorded.length,
    tryRule(rule, budget) {
      if (rule.kind !== 'access_rule') return tryExpression(rule.kind, rule.expression, budget);
      clients ??= recorded.map(clientOf);
      const addresses = addressSet([]);
      addresses.v4.pushAll(rule.ranges.v4);
      addresses.v6.pushAll(rule.ranges.v6);
      return count(clients, (client) => client !== undefined && overlaps(addresses, client), budget);
    },
  };
}

/** The agent allows a request if the evaluation fails. */
function blocks(run: (request: Request) => boolean, request: Request): boolean {
  try {
    return run(request);
  } catch (error) {
    if (error instanceof EvaluationError) return false;
    throw error;
  }
}

function clientOf({ fields }: Recorded): Network | undefined {
  const address = fields['ip.src'] as ByteString | undefined;
  const network = address === undefined ? '' : parseNetwork(formatAddress(address));
  return typeof network === 'string' ? undefined : network;
}

const MAX_TEXT = 100;

/** Such as `GET /checkout from 192.0.2.1`. */
function requestText({ fields }: Recorded): string {
  const text = (name: string) => {
    const bytes = fields[name] as ByteString | undefined;
    return bytes === undefined ? undefined : (decodeText(bytes) ?? bytes);
  };
  const line = [text('http.request.method'), text('http.request.path')].filter((part) => part !== undefined).join(' ');
  const short = line.length > MAX_TEXT ? `${line.slice(0, MAX_TEXT)}…` : line;
  const address = fields['ip.src'] as ByteString | undefined;
  return address === undefined ? short : `${short} from ${formatAddress(address)}`;
}
