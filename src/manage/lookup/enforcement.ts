/** Which devices and bouncers do what a feed says of a target now, from the ledger of what each has got (SPEC D10.25). Pure. */
import { gapOf } from '../../decisions/enforcement-gap.ts';
import { FORMATS } from '../../feed/formats/table.ts';
import type { Explained } from '../../feed/whatif/explain/explain.ts';
import type { Device } from '../../ports/devices.ts';
import type { Bouncer } from '../../ports/stored/bouncer-store.ts';
import type { ChangeOrigin, RuleVersion } from '../../ports/stored/rule-store.ts';
import type { AccessAction, Target } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';

/**
 * `has`: what it got last says of the target what the feed says now. `behind`: it is not seen to, for its content appeared before something changed
 * that concerns the target, or it is refused the feed. `unknown`: what it has cannot be told from here.
 */
export type Enforcing = 'has' | 'behind' | 'unknown';

/** One that pulls a feed. */
export interface Puller {
  readonly kind: 'device' | 'bouncer';
  readonly device: Device | undefined;
  readonly keyId: string;
  readonly userAgent: string;
  readonly address: string;
  readonly state: Enforcing;
  /** When the content that it has appeared; of a bouncer, when it pulled it; ms. */
  readonly contentAt: number | null;
  readonly lastPull: number;
  /** ms; null: it pulls. */
  readonly stoppedAt: number | null;
}

const SECOND = 1000;
/** Changes of second and content that one instant may stand for, ms: a second begins, and a second change shows in the next one (D5.15). */
const WITHIN = 2 * SECOND;
/** How long after a change has landed a read of the rules has it for certain, whatever the clocks of those who land and read, ms. */
const READ = 10 * SECOND;
/** How long a renewed rule may have taken to land when it was new, ms. */
const LANDING = 60 * SECOND;
/** How old what bouncers are told may be, ms: feeds are read every 30 seconds, answers are shared for 5. */
const TOLD = 35 * SECOND;

/** When a rule that was written last by this change began to count, ms. One that was only renewed has counted since it was made. */
function begunAt(
  { createdAt, updatedAt, ruleRef }: { createdAt: number; updatedAt: number; ruleRef: string | null },
  origin: ChangeOrigin | undefined,
): number {
  const landed = origin?.landedAt ?? updatedAt + LANDING;
  // With a rule_ref it may have been on another target before.
  return ruleRef === null && createdAt !== updatedAt ? Math.min(landed, createdAt + LANDING) : landed;
}

/** Since when a feed says of the target what it says now, ms; 0: nothing has changed that is known of; null: too many rules say it. */
export function settledAt(
  { source, explanation, expired, leftOut }: Explained,
  versions: readonly RuleVersion[],
  origins: ReadonlyMap<number, ChangeOrigin>,
): number | null {
  const { rules, verdict } = explanation;
  const begun = (effect: 'in' | 'out') =>
    rules
      .filter((rule) => rule.effect === effect)
      .map(({ stored, relation }) => ({
        at: begunAt({ ...stored, ruleRef: stored.rule.ruleRef }, origins.get(stored.seq)),
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
  const whole = putIn.filter(({ isComplete }) => isComplete).map(({ at }) => at);
  // One of several that put all of it in is enough; what kept it out must be gone for as long.
  // Where lists have to agree no rule is enough by itself.
  const isEnough = verdict === 'in' && whole.length > 0 && source.agreeing === undefined;
  if (leftOut > 0 && !isEnough) return null;
  const entered = isEnough ? [Math.min(...whole)] : putIn.map(({ at }) => at);
  const gone = [
    ...(verdict === 'out' ? [] : [expired?.out ?? 0, ...removed(true)]),
    ...(verdict === 'in' ? [] : [expired?.in ?? 0, ...removed(false)]),
  ];
  const keptOut = verdict === 'in' ? [] : begun('out').map(({ at }) => at);
  return Math.max(0, ...entered, ...gone, ...keptOut);
}

/** What devices and bouncers are compared with. */
export interface Compared {
  readonly target: Target;
  readonly action: AccessAction;
  readonly feedId: string | null;
  /** null: not known. */
  readonly settledAt: number | null;
}

/** The devices that pull a feed in a family of the target, each with what it does. */
export function devicesOf(devices: readonly Device[], { target, action, feedId, settledAt: settled }: Compared): Puller[] {
  const family = target.kind !== 'ip' ? 'both' : target.network.family === 4 ? 'v4' : 'v6';
  return devices.flatMap((device) => {
    const documents = device.documents.filter(
      (each) =>
        each.feedId === feedId &&
        each.action === action &&
        each.format in FORMATS &&
        (family === 'both' || each.family === 'both' || each.family === family),
    );
    if (documents.length === 0) return [];
    // Older content that is the newest there is has what has landed since: it was read again, and is the same.
    const isCurrent = (since: number) =>
      documents.every(
        ({ lastModified, newestModified, confirmedAt }) =>
          lastModified * SECOND >= since + WITHIN ||
          (lastModified === newestModified && confirmedAt !== null && confirmedAt >= since + READ),
      );
    const oldest = Math.min(...documents.map(({ lastModified }) => lastModified));
    const state: Enforcing = settled === null ? 'unknown' : isCurrent(settled) ? 'has' : 'behind';
    const { keyId, userAgent, address, lastPull, stoppedAt } = device;
    return [{ kind: 'device', device, keyId, userAgent, address, state, contentAt: oldest * SECOND, lastPull, stoppedAt }];
  });
}

/** The same of bouncers; one that looks addresses up is told what holds when it asks. */
export function bouncersOf(bouncers: readonly Bouncer[], { target, feedId, settledAt: settled }: Compared): Puller[] {
  return bouncers
    .filter((each) => each.feedId === feedId)
    .map((bouncer) => {
      const { keyId, userAgent, address, lastPull, lastStream } = bouncer;
      const lacks = gapOf(bouncer)?.isCertain === true && !isOneAddress(target);
      const at = lastStream ?? lastPull;
      const since = settled ?? Number.POSITIVE_INFINITY;
      const pulled: Enforcing = at >= since + TOLD ? 'has' : at >= since || settled === null ? 'unknown' : 'behind';
      const state = lacks ? 'unknown' : lastStream === null ? 'has' : pulled;
      return { kind: 'bouncer', device: undefined, keyId, userAgent, address, state, contentAt: lastStream, lastPull, stoppedAt: null };
    });
}

const isOneAddress = (target: Target): boolean => target.kind === 'ip' && !formatTarget(target).includes('/');
