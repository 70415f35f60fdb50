/** Characters of Unicode properties, from the platform's tables. */
import { normalizeProperty } from '../unicode.ts';
import { type CodeSet, codeSet } from './code-set.ts';

const MAX_CODE = 0x10ffff;

/** Names of several words, or with unusual capitals. */
const SPELLINGS = `Caucasian_Albanian Anatolian_Hieroglyphs Imperial_Aramaic Canadian_Aboriginal Cypro_Minoan Dives_Akuru
  Egyptian_Hieroglyphs Gunjala_Gondi Masaram_Gondi Gurung_Khema Hanifi_Rohingya Pahawh_Hmong Nyiakeng_Puachue_Hmong Old_Hungarian
  Inscriptional_Pahlavi Inscriptional_Parthian Old_Italic Kayah_Li Khitan_Small_Script Kirat_Rai Tai_Tham Linear_A Linear_B Meetei_Mayek
  Mende_Kikakui Meroitic_Cursive Meroitic_Hieroglyphs Nag_Mundari Old_North_Arabian New_Tai_Lue Ol_Chiki Old_Permic Old_Persian
  Old_Sogdian Old_South_Arabian Old_Turkic Old_Uyghur Ol_Onal Psalter_Pahlavi Sora_Sompeng Syloti_Nagri Tai_Le Tai_Viet Tulu_Tigalari
  Bassa_Vah Pau_Cin_Hau Warang_Citi Zanabazar_Square Phags_Pa SignWriting Cased_Letter Close_Punctuation Connector_Punctuation Currency_Symbol Dash_Punctuation
  Decimal_Number Enclosing_Mark Final_Punctuation Initial_Punctuation Letter_Number Line_Separator Lowercase_Letter Math_Symbol
  Modifier_Letter Modifier_Symbol Nonspacing_Mark Open_Punctuation Other_Letter Other_Number Other_Punctuation Other_Symbol
  Paragraph_Separator Private_Use Space_Separator Spacing_Mark Titlecase_Letter Uppercase_Letter Combining_Mark LC Lm Ll Lo Lt Lu Mc Me
  Mn Nd Nl No Pc Pd Pe Pf Pi Po Ps Sc Sk Sm So Zl Zp Zs Cc Cf Cn Co
  ASCII_Hex_Digit AHex Bidi_Control Bidi_C Bidi_Mirrored Bidi_M Case_Ignorable CI Changes_When_Casefolded CWCF Changes_When_Casemapped
  CWCM Changes_When_Lowercased CWL Changes_When_Titlecased CWT Changes_When_Uppercased CWU Default_Ignorable_Code_Point DI
  Emoji_Component EComp Emoji_Modifier EMod Emoji_Modifier_Base EBase Emoji_Presentation EPres Extended_Pictographic ExtPict
  Grapheme_Base Gr_Base Grapheme_Extend Gr_Ext Hex_Digit IDS_Binary_Operator IDSB IDS_Trinary_Operator IDST ID_Continue IDC ID_Start IDS
  Join_Control Join_C Logical_Order_Exception LOE Noncharacter_Code_Point NChar Pattern_Syntax Pat_Syn Pattern_White_Space Pat_WS
  Quotation_Mark QMark Regional_Indicator RI Sentence_Terminal STerm Soft_Dotted SD Terminal_Punctuation Unified_Ideograph UIdeo
  Variation_Selector VS White_Space XID_Continue XIDC XID_Start XIDS`.split(/\s+/);
const SPELLED: ReadonlyMap<string, string> = new Map(SPELLINGS.map((name) => [name.replaceAll('_', '').toLowerCase(), name]));

/** Names unknown to the platform. */
const ALIASES: ReadonlyMap<string, string> = new Map([
  ['unassigned', 'Cn'],
  ['other', 'C'],
  ['cntrl', 'Cc'],
  ['digit', 'Nd'],
  ['punct', 'P'],
  ['combiningmark', 'M'],
  ['space', 'White_Space'],
  ['wspace', 'White_Space'],
  ['qaac', 'Copt'],
  ['qaai', 'Zinh'],
]);
const CATEGORIES = ['gc', 'generalcategory'];
const SCRIPTS: ReadonlyMap<string, string> = new Map([
  ['sc', 'Script'],
  ['script', 'Script'],
  ['scx', 'Script_Extensions'],
  ['scriptextensions', 'Script_Extensions'],
]);

/** Reads `name`, `name=value`, `name:value` or (negated) `name!=value`; undefined if unknown to the platform. */
export function propertySet(written: string): { readonly set: CodeSet; readonly negated: boolean } | undefined {
  const separator = /!=|:/.exec(written) ?? /=/.exec(written);
  const negated = separator?.[0] === '!=';
  const set = separator === null ? named(normalizeProperty(written)) : byValue(written, separator.index, separator[0].length);
  return set && { set, negated };
}

function byValue(written: string, at: number, length: number): CodeSet | undefined {
  const property = normalizeProperty(written.slice(0, at));
  const value = normalizeProperty(written.slice(at + length));
  if (CATEGORIES.includes(property)) return special(value) ?? matching(`General_Category=${spell(value)}`);
  const script = SCRIPTS.get(property);
  return script === undefined ? undefined : matching(`${script}=${spell(value)}`);
}

function named(name: string): CodeSet | undefined {
  // These three are also other properties: the category has precedence.
  if (name === 'cf' || name === 'sc' || name === 'lc') return matching(`General_Category=${spell(name)}`);
  return special(name) ?? matching(spell(name)) ?? matching(`Script=${spell(name)}`);
}

function special(name: string): CodeSet | undefined {
  if (name === 'any') return [0, MAX_CODE];
  if (name === 'ascii') return [0, 0x7f];
  if (name === 'assigned') return matching('Assigned');
  return undefined;
}

const spell = (name: string): string => ALIASES.get(name) ?? SPELLED.get(name) ?? name.charAt(0).toUpperCase() + name.slice(1);

/** Characters by the platform's tables; undefined: an unknown name. */
function matching(property: string): CodeSet | undefined {
  let runs: RegExp;
  try {
    runs = new RegExp(`\\p{${property}}+`, 'gu');
  } catch {
    return undefined;
  }
  return runsOf(runs);
}

/** Cache of constants: each takes milliseconds. Keys are the known properties, so it is bounded. */
const MADE = new Map<string, CodeSet>();

/** Characters matched by a pattern of one class and `+`, except surrogates. */
export function runsOf(runs: RegExp): CodeSet {
  let set = MADE.get(runs.source);
  if (set === undefined) {
    const alike = ALIKE.filter(([first]) => runsWithin(runs, first, first).length > 0);
    set = codeSet([...TRIED.flatMap(([first, last]) => runsWithin(runs, first, last)), ...alike]);
    MADE.set(runs.source, set);
  }
  return set;
}

function runsWithin(runs: RegExp, from: number, to: number): [first: number, last: number][] {
  if (to - from < BLOCK) {
    const text = String.fromCodePoint(...Array.from({ length: to - from + 1 }, (_, i) => from + i));
    const size = from < 0x10000 ? 1 : 2;
    return Array.from(text.matchAll(runs), ({ 0: run, index }) => [from + index / size, from + (index + run.length) / size - 1]);
  }
  return [...runsWithin(runs, from, from + BLOCK - 1), ...runsWithin(runs, from + BLOCK, to)];
}

const BLOCK = 0x1000;
type CodeRange = readonly [first: number, last: number];
/** Planes in use, without surrogates, and the tags. */
const TRIED: readonly CodeRange[] = [
  [0, 0xd7ff],
  [0xe000, 0x33fff],
  [0xe0000, 0xe0fff],
];
/** The rest of each plane is uniform; its last two code points are noncharacters. */
const ALIKE: readonly CodeRange[] = Array.from({ length: 14 }, (_, i) => (i + 3) * 0x10000).flatMap((plane): CodeRange[] => [
  [plane === 0x30000 ? 0x34000 : plane === 0xe0000 ? 0xe1000 : plane, plane + 0xfffd],
  [plane + 0xfffe, plane + 0xffff],
]);
