/** The documents of a workspace: feeds, stored rules, agent configuration. */
import { EXPRESSION_KINDS, isExpressionKind, KINDS, type Kind, type RuleType } from '../rule.ts';
import type { Variant } from './variant.ts';

interface NamedVariant {
  readonly document: string;
  /** Unique within the document, in store records and entity tags; empty for the complete document. */
  readonly name: string;
}

/** The rules of one kind (SPEC D13.1). `name` encodes filter and page. */
export interface RulesVariant extends NamedVariant {
  readonly document: Kind;
  readonly type: RuleType | null;
  readonly label: readonly [name: string, value: string] | null;
  readonly page: { readonly after: RulePlace | null; readonly limit: number } | null;
}

export type RulePlace = { readonly order: number | null; readonly ruleRef: string } | { readonly id: number };

export interface ConfigVariant extends NamedVariant {
  readonly document: 'config';
  /** `names`: countries and ASNs without their ranges. */
  readonly name: 'expanded' | 'names';
}

/** Decisions for bouncers (SPEC D14). No bytes: each body depends on the bouncer's state (`decisions/build/`). */
export interface DecisionsVariant extends NamedVariant {
  readonly document: 'decisions';
}

export type DocumentVariant = Variant | RulesVariant | ConfigVariant | DecisionsVariant;
export type DocumentKind = DocumentVariant['document'];

export const DECISIONS: DecisionsVariant = { document: 'decisions', name: '' };

export interface Revisions {
  /** Changes with everything visible. */
  readonly revision: number;
  readonly expressionRevision: number;
  /** undefined: not frozen. */
  readonly frozenRevision?: number | undefined;
}

interface DocumentRow {
  readonly networks: boolean;
  readonly kinds: readonly Kind[];
  /**
   * Variants with a stored Last-Modified. Filtered variants have none: clients could create any number. Only their tags are proof (SPEC
   * D13.4).
   */
  readonly remembered: 'all' | 'complete' | 'none';
}

const RULES = Object.fromEntries(
  KINDS.map((kind): [Kind, DocumentRow] => [kind, { networks: false, kinds: [kind], remembered: 'complete' }]),
) as Record<Kind, DocumentRow>;

/** Everything about a document except its renderer (`build/render-document.ts`), loaded only by the feed thread. */
export const DOCUMENTS: Readonly<Record<DocumentKind, DocumentRow>> = {
  feed: { networks: true, kinds: [], remembered: 'all' },
  ...RULES,
  config: { networks: true, kinds: EXPRESSION_KINDS, remembered: 'all' },
  decisions: { networks: true, kinds: [], remembered: 'none' },
};

export function revisionOf(document: DocumentKind, { revision, expressionRevision, frozenRevision }: Revisions): number {
  const { networks, kinds } = DOCUMENTS[document];
  // Only feeds are frozen, not rules and agent configurations.
  if (frozenRevision !== undefined && networks && kinds.length === 0) return frozenRevision;
  const isOfLists = networks || kinds.some((kind) => !isExpressionKind(kind));
  return (isOfLists ? revision : 0) + (kinds.some(isExpressionKind) ? expressionRevision : 0);
}

export interface VariantName {
  readonly format: string;
  readonly family: string;
  readonly action: string;
}

export const nameOf = (variant: DocumentVariant): VariantName =>
  variant.document === 'feed' ? variant : { format: variant.document, family: variant.name, action: '' };

export function isRemembered(variant: DocumentVariant): boolean {
  const { remembered } = DOCUMENTS[variant.document];
  return remembered === 'all' || (remembered === 'complete' && nameOf(variant).family === '');
}

/** A feed variant is a singleton object. */
export const keyOf = (variant: DocumentVariant): DocumentVariant | string => (variant.document === 'feed' ? variant : variant.name);
