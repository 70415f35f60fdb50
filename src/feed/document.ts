/** What is served of a workspace: its feeds, its rules as they are stored, the configuration of an agent. */
import { EXPRESSION_KINDS, isExpressionKind, KINDS, type Kind, type RuleType } from '../rule.ts';
import type { Variant } from './variant.ts';

/** A representation of a document that is no feed. */
interface NamedVariant {
  readonly document: string;
  /** What tells the variants of the document apart, in the store's records and in entity tags too; empty for the whole document. */
  readonly name: string;
}

/** The rules of one kind (SPEC D13.1). Its name is the filter and page in one text. */
export interface RulesVariant extends NamedVariant {
  readonly document: Kind;
  /** Expression rules of this type only; null: of both. */
  readonly type: RuleType | null;
  /** Rules with this label only, as name and value. */
  readonly label: readonly [name: string, value: string] | null;
  /** A page: at most so many rules, those behind a place in the order. null: all. */
  readonly page: { readonly after: RulePlace | null; readonly limit: number } | null;
}

/** A place in the order of enforcement: that of the rule with this `order` and `rule_ref`, or of the access rule with this id. */
export type RulePlace = { readonly order: number | null; readonly ruleRef: string } | { readonly id: number };

/** The configuration of an agent (SPEC D13.7). */
export interface ConfigVariant extends NamedVariant {
  readonly document: 'config';
  /** `names`: countries and ASNs come without their ranges. */
  readonly name: 'expanded' | 'names';
}

/** What bouncers are told (SPEC D14). Its bytes are empty: bodies are made for what each bouncer knows already (`decisions/build/`). */
export interface DecisionsVariant extends NamedVariant {
  readonly document: 'decisions';
}

/** What distinguishes the representations of all that is served of a workspace, apart from the coding. */
export type DocumentVariant = Variant | RulesVariant | ConfigVariant | DecisionsVariant;
export type DocumentKind = DocumentVariant['document'];

export const DECISIONS: DecisionsVariant = { document: 'decisions', name: '' };

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
  /**
   * Of which variants the store remembers when their content first appeared. It does not where requests can make up any number of them:
   * their Last-Modified proves nothing then, and only their tags do (SPEC D13.4). Decisions have none.
   */
  readonly remembered: 'all' | 'whole' | 'none';
}

const RULES = Object.fromEntries(
  KINDS.map((kind): [Kind, DocumentRow] => [kind, { networks: false, kinds: [kind], remembered: 'whole' }]),
) as Record<Kind, DocumentRow>;

/** All about each document but its renderer (`make/render-document.ts`), which other threads do not load. */
export const DOCUMENTS: Readonly<Record<DocumentKind, DocumentRow>> = {
  feed: { networks: true, kinds: [], remembered: 'all' },
  ...RULES,
  config: { networks: true, kinds: EXPRESSION_KINDS, remembered: 'all' },
  decisions: { networks: true, kinds: [], remembered: 'none' },
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

export const nameOf = (variant: DocumentVariant): VariantName =>
  variant.document === 'feed' ? variant : { format: variant.document, family: variant.name, action: '' };

/** Whether the store remembers when the content of a variant first appeared. */
export function isRemembered(variant: DocumentVariant): boolean {
  const { remembered } = DOCUMENTS[variant.document];
  return remembered === 'all' || (remembered === 'whole' && nameOf(variant).family === '');
}

/** What tells the variants of one document apart: their name; of a feed's there is one object each. */
export const keyOf = (variant: DocumentVariant): DocumentVariant | string => (variant.document === 'feed' ? variant : variant.name);
