/** SPEC D28.5, D28.6. */
import type { StoreReads } from '../../ports/store.ts';
import { type DeletionPreview, deletionPreview, deletionSentence } from '../deletion.ts';
import { RECENTLY_WORDS, type RecentUses, recentUses } from '../devices/recent-use.ts';
import type { FieldChange, PlannedChange } from './plan.ts';

/** Deletions with a preview; others are only listed. */
const MOST_PREVIEWS = 100;
const MOST_CHARACTERS = 120;

const SIGNS = { add: '+', change: '~', remove: '-' } as const;

function valueText(value: unknown): string {
  const text =
    value === null || (Array.isArray(value) && value.length === 0)
      ? 'none'
      : Array.isArray(value)
        ? value.join(', ')
        : typeof value === 'string' && !/^[\w.:/@+…-]+$/.test(value)
          ? JSON.stringify(value)
          : String(value);
  return text.length > MOST_CHARACTERS ? `${text.slice(0, MOST_CHARACTERS)}…` : text;
}

const fieldText = ({ field, before, after }: FieldChange) =>
  field === 'secret' ? 'another secret' : `${field} ${valueText(before)} → ${valueText(after)}`;

/** Such as `~ feed fw-berlin: max_entries 10000 → 20000`. */
export function changeText({ kind, what, name, fields }: PlannedChange): string {
  const title = [SIGNS[what], kind.word, name]
    .filter(Boolean)
    .join(' ')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, ' ');
  return what === 'change' ? `${title}: ${fields.map(fieldText).join(', ')}` : title;
}

/** For a key, its recent users. */
export type Loss = DeletionPreview | RecentUses;

export async function losses(
  store: StoreReads,
  workspaceId: string,
  changes: readonly PlannedChange[],
  pause: () => Promise<void>,
): Promise<ReadonlyMap<PlannedChange, Loss>> {
  const found = new Map<PlannedChange, Loss>();
  const reads = asOf(store);
  const keys = await reads.keys(workspaceId);
  const names = new Map(keys.map(({ id, name, prefix }) => [id, name ?? prefix]));
  for (const change of changes.filter(({ what }) => what === 'remove').slice(0, MOST_PREVIEWS)) {
    const { kind, thing } = change;
    const { id } = thing!;
    if (kind.loss === 'key') found.set(change, await recentUses(reads, workspaceId, { keyIds: new Set([id]) }, names));
    else if (kind.loss !== undefined) found.set(change, await deletionPreview(reads, workspaceId, kind.loss, id));
    await pause();
  }
  return found;
}

/** undefined: no loss. */
export function lossText(loss: Loss): string | undefined {
  if ('rules' in loss) return loss.needs_confirmation ? deletionSentence(loss) : undefined;
  const { pulled, pulled_left_out: more } = loss;
  const [first] = pulled;
  if (first === undefined) return undefined;
  const others = pulled.length - 1 + more;
  return `used ${RECENTLY_WORDS} by ${first.address} (${first.user_agent})${others === 0 ? '' : ` and ${others} others`}`;
}

/** Caches reads shared by all previews. */
function asOf(store: StoreReads): StoreReads {
  const known = new Map<string, Promise<unknown>>();
  const once =
    (name: 'ping' | 'keys' | 'feeds' | 'devices' | 'bouncerPage') =>
    (...args: never[]) => {
      const asked = JSON.stringify([name, ...args]);
      const answer = known.get(asked) ?? (store[name] as (...given: never[]) => Promise<unknown>)(...args);
      known.set(asked, answer);
      return answer;
    };
  const shared = {
    ping: once('ping'),
    keys: once('keys'),
    feeds: once('feeds'),
    devices: once('devices'),
    bouncerPage: once('bouncerPage'),
  };
  return Object.assign(Object.create(store) as StoreReads, shared);
}
