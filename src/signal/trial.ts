/** Tries a batch's rules on the workspace's sample of good traffic (SPEC D21). */
import { lastAddressV4, lastAddressV6 } from '@weir/network/bounds.ts';
import type { Network } from '@weir/network/network.ts';
import type { Caller } from '../account/caller.ts';
import type { GeoRanges } from '../ports/geo.ts';
import { type GeoTarget, isExpressionKind, type Target } from '../rule.ts';
import type { TryRules } from '../sample/judge.ts';
import { type Verdict, verdictOf } from '../sample/judge.ts';
import type { TriedRule } from '../sample/try-rule.ts';
import type { Signal } from './schema.ts';
import { readTarget, TARGET_FIELDS, type WireTarget } from './target.ts';
import type { FieldFault } from './validate.ts';

export interface SampleTrial {
  faultOf(signal: Signal): FieldFault | undefined;
  warningsOf(signal: Signal): string[];
}

/** `judge` judges the entries and passes on the good ones. */
export type Trials = (
  caller: Caller,
  dryRun: boolean,
  judge: (accept: (signal: Signal) => void) => Promise<unknown>,
) => Promise<SampleTrial | undefined>;

/** A rule to try, its identity, and the field for faults. */
interface Tryable {
  readonly key: string;
  readonly field: string;
  readonly generated: boolean;
  readonly rule: () => TriedRule;
}

const BLOCKING = ['block', 'challenge'];

/** `ranges`: the addresses of a country or ASN. */
export function sampleTrials(tryRules: TryRules, ranges: (target: GeoTarget) => GeoRanges): Trials {
  return async (caller, dryRun, judge) => {
    const { sample, workspaceId } = caller;
    if (sample === null || (sample.maxShare === null && !dryRun)) return undefined;
    const isLimited = ({ generated }: Tryable) => sample.rules === 'all' || generated;
    const rules = new Map<string, TriedRule>();
    await judge((signal) => {
      const tryable = tryableOf(signal, ranges);
      if (tryable !== undefined && (dryRun || isLimited(tryable)) && !rules.has(tryable.key)) rules.set(tryable.key, tryable.rule());
    });
    if (rules.size === 0) return undefined;
    const tried = await tryRules({ workspaceId, revision: sample.revision, rules: [...rules.values()] });
    if (tried === undefined) return undefined;
    const results = new Map([...rules.keys()].map((key, i) => [key, tried[i]]));
    const verdict = (signal: Signal): (Verdict & { readonly field: string }) | undefined => {
      const tryable = tryableOf(signal, ranges);
      const result = tryable && results.get(tryable.key);
      return result && { ...verdictOf(result, sample, isLimited(tryable)), field: tryable.field };
    };
    return {
      faultOf(signal) {
        const { fault, field } = verdict(signal) ?? {};
        return fault === undefined ? undefined : { field: field!, message: fault };
      },
      warningsOf(signal) {
        const { warning } = verdict(signal) ?? {};
        return warning === undefined ? [] : [`${nameOf(signal)}: ${warning}`];
      },
    };
  };
}

function tryableOf(signal: Signal, ranges: (target: GeoTarget) => GeoRanges): Tryable | undefined {
  if (signal.version === 1) {
    return signal.event.action === 'block' ? ofTarget(signal.event, '', ranges) : undefined;
  }
  const { kind, op, rule } = signal.envelope;
  if (op !== 'upsert' || rule === undefined) return undefined;
  if (!isExpressionKind(kind)) {
    const { target, action } = rule as { readonly target: WireTarget; readonly action?: string };
    return (action ?? 'block') === 'block' ? ofTarget(target, 'rule.target.', ranges) : undefined;
  }
  const { expression, action, type } = rule as { readonly expression: string; readonly action: string; readonly type: string };
  if (!BLOCKING.includes(action)) return undefined;
  const tried: TriedRule = { kind, expression };
  return { key: `${kind} ${expression}`, field: 'rule.expression', generated: type === 'generated', rule: () => tried };
}

function ofTarget(wire: WireTarget, path: string, ranges: (target: GeoTarget) => GeoRanges): Tryable | undefined {
  const name = TARGET_FIELDS.find((each) => wire[each]);
  const target = name && readTarget(name, wire[name]!);
  if (target === undefined || typeof target === 'string') return undefined;
  const rule = (): TriedRule => ({ kind: 'access_rule', ranges: rangesOf(target, ranges) });
  return { key: `${name} ${wire[name!]}`, field: `${path}${name}`, generated: false, rule };
}

const rangesOf = (target: Target, ranges: (target: GeoTarget) => GeoRanges): GeoRanges =>
  target.kind === 'ip' ? rangeOf(target.network) : ranges(target);

function rangeOf(network: Network): GeoRanges {
  const none = new Uint32Array(0);
  if (network.family === 4) return { v4: Uint32Array.of(network.address, lastAddressV4(network.address, network.prefix)), v6: none };
  const v6 = new Uint32Array(8);
  v6.set(network.address);
  lastAddressV6(network.address, 0, network.prefix, v6, 4);
  return { v4: none, v6 };
}

/** For people: rule_ref or target. */
export function nameOf(signal: Signal): string {
  if (signal.version === 2 && signal.envelope.rule_ref !== undefined) return signal.envelope.rule_ref;
  const wire = (signal.version === 1 ? signal.event : (signal.envelope.rule as { readonly target: WireTarget }).target) as WireTarget;
  return wire.ip ?? wire.asn ?? wire.country ?? '';
}
