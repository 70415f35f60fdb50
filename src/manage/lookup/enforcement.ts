/** From what each client has fetched (SPEC D10.25). Pure. */

import type { DeviceRefusal } from '../../account/device.ts';
import { gapOf } from '../../decisions/enforcement-gap.ts';
import { FORMATS } from '../../feed/formats/table.ts';
import type { Explained } from '../../feed/whatif/explain/explain.ts';
import type { Device } from '../../ports/devices.ts';
import type { Bouncer } from '../../ports/stored/bouncer-store.ts';
import type { ChangeOrigin, RuleVersion } from '../../ports/stored/rule-store.ts';
import type { AccessAction, Target } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import type { NamedRefusal } from '../devices/device-json.ts';

/** `behind`: its content is older than the last relevant change, or it has been refused since. */
export type Enforcing = 'has' | 'behind' | 'unknown';

export interface Puller {
  readonly kind: 'device' | 'bouncer';
  readonly device: Device | undefined;
  readonly keyId: string;
  readonly userAgent: string;
  readonly address: string;
  readonly state: Enforcing;
  /** When its content appeared; for a bouncer, its fetch; ms. */
  readonly contentAt: number | null;
  readonly lastPull: number;
  /** ms; null: it still fetches. */
  readonly stoppedAt: number | null;
  /** Current refusal; null: none. */
  readonly refused: number | null;
}

const SECOND = 1000;
/** Tolerance, ms: seconds are truncated, and a second change within one appears in the next (D5.15). */
const WITHIN = 2 * SECOND;
/** A read this long after a landing certainly includes it, ms. */
const READ = 10 * SECOND;
/** Assumed longest landing delay, ms. */
const LANDING = 60 * SECOND;
/** Maximum age of data for bouncers, ms: feeds are read every 30 seconds, responses shared for 5. */
const BOUNCER_LAG = 35 * SECOND;

/** ms. A renewal does not change it. */
function begunAt(
  { createdAt, updatedAt, ruleRef }: { createdAt: number; updatedAt: number; ruleRef: string | null },
  origin: ChangeOrigin | undefined,
): number {
  const landed = origin?.landedAt ?? updatedAt + LANDING;
  // A rule with a rule_ref may have had another target before.
  return ruleRef === null && createdAt !== updatedAt ? Math.min(landed, createdAt + LANDING) : landed;
}

/** ms; 0: no known change; null: too many rules. */
export function settledAt(
  { source, explanation, expired, leftOut }: Explained,
  versions: readonly RuleVersion[],
  origins: ReadonlyMap<number, ChangeOrigin>,
): number | null {
  const { rules, verdict } = explanation;
  const restored = Map.groupBy(
    versions.filter(({ written }) => written?.undoes != null),
    ({ stored }) => stored.id,
  );
  const restoredAt = (id: number) => (restored.get(id) ?? []).map(({ written }) => written!.landedAt);
  const begun = (effect: 'in' | 'out') =>
    rules
      .filter((rule) => rule.effect === effect)
      .map(({ stored, relation }) => ({
        at: Math.max(begunAt({ ...stored, ruleRef: stored.rule.ruleRef }, origins.get(stored.seq)), ...restoredAt(stored.id)),
        isComplete: relation !== 'covered' && relation !== 'overlapping',
      }));
  const holds = (listId: string | null) => source.lists === null || source.lists.has(listId!);
  const isCutOut = source.profile.subtractAllow === 'workspace';
  const removed = (isOut: boolean) =>
    versions
      .filter(({ ended, stored }) => ended !== null && (holds(stored.listId) || (isOut && isCutOut)))
      .filter(({ stored }) => ((stored.rule as { action: AccessAction }).action === 'allow') === isOut)
      .map(({ ended, stored }) => ended!.by?.landedAt ?? stored.updatedAt + LANDING);
  const putIn = begun('in');
  const complete = putIn.filter(({ isComplete }) => isComplete).map(({ at }) => at);
  // One rule for all of the target is enough, unless there is a quorum; every exclusion must have ended.
  const isEnough = verdict === 'in' && complete.length > 0 && source.agreeing === undefined;
  if (leftOut > 0 && !isEnough) return null;
  const entered = isEnough ? [Math.min(...complete)] : putIn.map(({ at }) => at);
  const ended = [
    ...(verdict === 'out' ? [] : [expired?.out ?? 0, ...removed(true)]),
    ...(verdict === 'in' ? [] : [expired?.in ?? 0, ...removed(false)]),
  ];
  const excluded = verdict === 'in' ? [] : begun('out').map(({ at }) => at);
  return Math.max(0, ...entered, ...ended, ...excluded);
}

export interface Compared {
  readonly target: Target;
  readonly action: AccessAction;
  readonly feedId: string | null;
  readonly settledAt: number | null;
  readonly isIn: boolean;
}

export interface RefusedDevice extends Device {
  readonly refusals: readonly NamedRefusal[];
}

export function devicesOf(devices: readonly RefusedDevice[], { target, action, feedId, settledAt: settled, isIn }: Compared): Puller[] {
  const family = target.kind !== 'ip' ? 'both' : target.network.family === 4 ? 'v4' : 'v6';
  const isOf = (each: Pick<DeviceRefusal, 'feedId' | 'format' | 'family' | 'action'>) =>
    each.feedId === feedId &&
    (each.format === null ||
      (each.action === action && each.format in FORMATS && (family === 'both' || each.family === 'both' || each.family === family)));
  return devices.flatMap((device): Puller[] => {
    const documents = device.documents.filter(isOf);
    const refused = device.refusals.find((each) => isOf(each) && (each.feedId ?? each.feedName) === feedId)?.status ?? null;
    const { keyId, userAgent, address, lastPull, stoppedAt } = device;
    const puller = { kind: 'device', device, keyId, userAgent, address, lastPull, stoppedAt, refused } as const;
    // It has no content of the feed.
    if (documents.length === 0) return refused === null ? [] : [{ ...puller, state: isIn ? 'behind' : 'has', contentAt: null }];
    // Older content is current if it is the newest and was confirmed after the landing.
    const isCurrent = (since: number) =>
      documents.every(
        ({ lastModified, newestModified, confirmedAt }) =>
          lastModified * SECOND >= since + WITHIN ||
          (lastModified === newestModified && confirmedAt !== null && confirmedAt >= since + READ),
      );
    const oldest = Math.min(...documents.map(({ lastModified }) => lastModified));
    const state: Enforcing = settled === null ? 'unknown' : isCurrent(settled) ? 'has' : 'behind';
    return [{ ...puller, state, contentAt: oldest * SECOND }];
  });
}

/** Look-ups of single addresses are always current. */
export function bouncersOf(bouncers: readonly Bouncer[], { target, feedId, settledAt: settled, isIn }: Compared): Puller[] {
  return bouncers
    .filter((each) => each.feedId === feedId)
    .map((bouncer) => {
      const { keyId, userAgent, address, lastPull, lastStream } = bouncer;
      const refused = bouncer.refusal?.status ?? null;
      const lacks = gapOf(bouncer)?.isCertain === true && !isOneAddress(target);
      const at = lastStream ?? lastPull;
      // Without data, a refused bouncer enforces nothing.
      const nothing: Enforcing = isIn ? 'behind' : 'has';
      const since = settled ?? Number.POSITIVE_INFINITY;
      const pulled: Enforcing = at >= since + BOUNCER_LAG ? 'has' : at >= since || settled === null ? 'unknown' : 'behind';
      const state = lacks ? 'unknown' : lastStream !== null ? pulled : refused === null ? 'has' : nothing;
      const of = { keyId, userAgent, address, lastPull, stoppedAt: null, refused };
      return { kind: 'bouncer', device: undefined, ...of, state, contentAt: lastStream };
    });
}

const isOneAddress = (target: Target): boolean => target.kind === 'ip' && !formatTarget(target).includes('/');
