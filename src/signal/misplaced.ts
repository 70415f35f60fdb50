/** Warnings about fields without effect in their place (SPEC D42.4). */
import { isExpressionKind, KINDS, type Kind, perKind } from '../rule.ts';
import { ENVELOPE_FIELDS, EVENT_FIELDS, type Fields, isObject, RULE_FIELDS } from './normalize.ts';
import { TARGET_FIELDS } from './target.ts';

/** The effective place of a field, by its name without case and separators: `expiresIn` means `expires_in`. */
type Places = ReadonlyMap<string, string>;
const wordOf = (name: string): string => name.replaceAll(/[-_]/g, '').toLowerCase();
const placesOf = (paths: Readonly<Record<string, string>>): Places =>
  new Map(Object.entries(paths).map(([name, path]) => [wordOf(name), path]));
const inside = (prefix: string, names: readonly string[]) => Object.fromEntries(names.map((name) => [name, prefix + name]));

/** Foreign names for a rule's lifetime. */
const of = (lifetime: string) => ({ expires_in: lifetime, expiration: lifetime, ttl: lifetime, expires: 'expires_at' });

const EVENT_PLACES = placesOf({ ...inside('', EVENT_FIELDS), ...of('expiration'), reason: 'description' });
const ENVELOPE_PLACES = perKind(KINDS, (kind) =>
  placesOf({
    ...(isExpressionKind(kind)
      ? { ratelimit: 'rule.config.rateLimit', description: 'rule.short_description' }
      : {
          ...inside('rule.target.', TARGET_FIELDS),
          ...inside('rule.config.', ['confidence', 'severity']),
          description: 'reason',
          name: 'labels.name',
        }),
    ...inside('rule.', RULE_FIELDS[kind]),
    ...inside('', ENVELOPE_FIELDS),
    ...of('expires_in'),
  }),
);

export const misplacedInEvent = (entry: Fields): string[] => misplaced(entry, EVENT_PLACES, [['', EVENT_FIELDS]]);

export const misplacedInEnvelope = (entry: Fields, kind: Kind): string[] =>
  misplaced(entry, ENVELOPE_PLACES[kind], [
    ['', ENVELOPE_FIELDS],
    ['rule', RULE_FIELDS[kind]],
    ['rule.target', TARGET_FIELDS],
  ]);

function misplaced(entry: Fields, places: Places, objects: readonly (readonly [path: string, known: readonly string[]])[]): string[] {
  return objects.flatMap(([path, known]) => {
    const members = path === '' ? entry : valueAt(entry, path);
    if (!isObject(members)) return [];
    return Object.keys(members).flatMap((name) => {
      if (known.includes(name) || (members[name] ?? null) === null) return [];
      const right = places.get(wordOf(name));
      const isMissing = right !== undefined && matters(entry, right) && (valueAt(entry, right) ?? null) === null;
      return isMissing ? [`${path === '' ? '' : `${path}.`}${name} has no effect: did you mean ${right}?`] : [];
    });
  });
}

const valueAt = (entry: Fields, path: string): unknown =>
  path.split('.').reduce<unknown>((value, name) => (isObject(value) && Object.hasOwn(value, name) ? value[name] : undefined), entry);

/** Deletions only read the fields naming a rule. */
const matters = ({ op, rule_ref: ref }: Fields, path: string): boolean =>
  op !== 'delete' || ((ref ?? null) === null && /^(?:rule_ref|rule\.action|rule\.target\b.*)$/.test(path));
