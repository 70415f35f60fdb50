/** SPEC D10.26. Pure. */
import { isoTime } from '../../clock.ts';
import type { ChangeOrigin, RuleVersion } from '../../ports/stored/rule-store.ts';
import type { AccessRule } from '../../rule.ts';
import { formatTarget } from '../../signal/target.ts';
import { type Names, originJson } from '../rules/rule-json.ts';

/** `renewed`: sent again or changed; `restored`: by an undo. */
export type TargetEvent = 'added' | 'renewed' | 'restored' | 'expired' | 'removed' | 'undone';

interface Happened {
  readonly at: number;
  readonly event: TargetEvent;
  readonly version: RuleVersion;
  readonly by: ChangeOrigin | null;
}

/** Newest first. `now` in ms. */
export function targetHistory(versions: readonly RuleVersion[], names: Names, now: number): object[] {
  const written = new Set(versions.map(({ stored }) => `${stored.listId} ${stored.seq}`));
  const happened = versions.flatMap((version): Happened[] => {
    const { stored, written: by, ended } = version;
    const { expiresAt } = stored.rule;
    const begun = by?.landedAt ?? stored.updatedAt;
    if (by?.undoes != null) return [{ at: begun, event: 'restored', version, by }];
    const event = stored.createdAt === stored.updatedAt ? 'added' : 'renewed';
    const end = ended === null ? now : (ended.by?.landedAt ?? now);
    const events: Happened[] = [{ at: begun, event, version, by }];
    if (expiresAt !== null && expiresAt <= end) events.push({ at: expiresAt, event: 'expired', version, by: null });
    else if (ended !== null && !written.has(`${stored.listId} ${ended.seq}`)) {
      events.push({ at: end, event: ended.by?.undoes != null ? 'undone' : 'removed', version, by: ended.by });
    }
    return events;
  });
  // A restored rule repeats its earlier events.
  const once = new Map(happened.map((each) => [`${each.event} ${each.at} ${each.version.stored.listId} ${each.version.stored.id}`, each]));
  return [...once.values()]
    .toSorted((a, b) => b.at - a.at || b.version.stored.seq - a.version.stored.seq)
    .map((each) => eventJson(each, names));
}

function eventJson({ at, event, version: { stored }, by }: Happened, names: Names): object {
  const { action, reason, expiresAt, target } = stored.rule as AccessRule;
  const origin = originJson(by ?? undefined);
  return {
    at: isoTime(at),
    event,
    target: formatTarget(target),
    action,
    list_id: stored.listId,
    list_name: names.lists.get(stored.listId ?? '') ?? '',
    reason,
    expires_at: isoTime(expiresAt),
    ...origin,
    key_name: names.keys.get(origin.key_id ?? '') ?? null,
    undoes: by?.undoes ?? null,
  };
}
