/** What is served of a workspace: its feeds, its rules as they are stored, the configuration of an agent. */
import { EXPRESSION_KINDS, isExpressionKind, KINDS, type Kind, type RuleType } from '../rule.ts';
import type { Variant } from './variant.ts';

/** The rules of one kind (SPEC D13.1). */
export interface RulesVariant {
  readonly document: Kind;
  /** Expression rules of this type only; null: of both. */
  readonly type: RuleType | null;
  /** Rules with this label only, as name and value. */
  readonly label: readonly [name: string, value: string] | null;
  /** A page: at most so many rules, those behind a place in the order. null: all. */
  readonly page: { readonly after: RulePlace | null; readonly limit: number } | null;
  /** The filter and page in one text: empty for the whole document. */
  readonly filter: string;
}

/** A place in the order of enforcement: that of the rule with this `order` and `rule_ref`, or of the access rule with this id. */
export type RulePlace = { readonly order: number | null; readonly ruleRef: string } | { readonly id: number };

/** The configuration of an agent (SPEC D13.7). */
export interface ConfigVariant {
  readonly document: 'config';
  /** Whether countries and ASNs come with their ranges. */
  readonly expand: boolean;
}

/** What bouncers are told (SPEC D14). Its bytes are empty: bodies are made for what each bouncer knows already (`bouncers/make/`). */
export interface DecisionsVariant {
  readonly document: 'decisions';
}

/** What distinguishes the representations of all that is served of a workspace, apart from the coding. */
export type DocumentVariant = Variant | RulesVariant | ConfigVariant | DecisionsVariant;
export type DocumentKind = DocumentVariant['document'];

/** The whole documents, each one object. */
export const CONFIG: { readonly [expand in 'expanded' | 'names']: ConfigVariant } = {
  expanded: { document: 'config', expand: true },
  names: { document: 'config', expand: false },
};

export const DECISIONS: DecisionsVariant = { document: 'decisions' };

/** The revisions that what is served of a workspace moves with. */
export interface Revisions {
  /** Moves with everything that a feed, or its rules, shows. */
  readonly revision: number;
  /** Moves with the expression rules of the workspace. */
  readonly expressionRevision: number;
}

interface DocumentRow {
  /** Whether it is made from access rules as networks. */
  readonly networks: boolean;
  /** The kinds whose rules it holds as they are stored. */
  readonly kinds: readonly Kind[];
}

const RULES = Object.fromEntries(KINDS.map((kind) => [kind, { networks: false, kinds: [kind] }])) as unknown as Record<Kind, DocumentRow>;

/** What each document is made from. */
export const DOCUMENTS: Readonly<Record<DocumentKind, DocumentRow>> = {
  feed: { networks: true, kinds: [] },
  ...RULES,
  config: { networks: true, kinds: EXPRESSION_KINDS },
  decisions: { networks: true, kinds: [] },
};

/** The revision of a document: moves with everything that it is made from. */
export function revisionOf(document: DocumentKind, { revision, expressionRevision }: Revisions): number {
  const { networks, kinds } = DOCUMENTS[document];
  const isOfLists = networks || kinds.some((kind) => !isExpressionKind(kind));
  return (isOfLists ? revision : 0) + (kinds.some(isExpressionKind) ? expressionRevision : 0);
}

/** What names a variant in the store's records and in entity tags: three words, which a feed's format, family and action are. */
export interface VariantName {
  readonly format: string;
  readonly family: string;
  readonly action: string;
}

export function nameOf(variant: DocumentVariant): VariantName {
  if (variant.document === 'feed') return variant;
  if (variant.document === 'decisions') return { format: variant.document, family: '', action: '' };
  const family = variant.document === 'config' ? (variant.expand ? 'expanded' : 'names') : variant.filter;
  return { format: variant.document, family, action: '' };
}

/**
 * Whether the store remembers when the content of a variant first appeared. It does not where requests can make up any number of
 * variants: their Last-Modified proves nothing then, and only their tags do (SPEC D13.4). Decisions have none.
 */
export const isRemembered = (variant: DocumentVariant): boolean =>
  variant.document !== 'decisions' && (!('filter' in variant) || variant.filter === '');

/** What tells the variants of one document apart: the filter of rules; of others there is one object each. */
export const keyOf = (variant: DocumentVariant): DocumentVariant | string => ('filter' in variant ? variant.filter : variant);
