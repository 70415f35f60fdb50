/**
 * The engine's Unicode properties (regex-syntax 0.8, Unicode 16), by name in loose form: lower case, without spaces, "_", "-" and a leading
 * "is".
 */
const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/));

const BINARY =
  words(`ahex asciihexdigit alpha alphabetic bidic bidicontrol bidim bidimirrored ci caseignorable cased cwcf changeswhencasefolded cwcm
  changeswhencasemapped cwl changeswhenlowercased cwt changeswhentitlecased cwu changeswhenuppercased dash di
  defaultignorablecodepoint dep deprecated dia diacritic emoji ecomp emojicomponent emod emojimodifier ebase emojimodifierbase epres
  emojipresentation extpict extendedpictographic ext extender grbase graphemebase grext graphemeextend grlink graphemelink hex
  hexdigit hyphen idsb idsbinaryoperator idst idstrinaryoperator idsu idsunaryoperator idc idcontinue ids idstart idcompatmathcontinue
  idcompatmathstart ideo ideographic joinc joincontrol loe logicalorderexception lower lowercase math mcm modifiercombiningmark nchar
  noncharactercodepoint oalpha otheralphabetic odi otherdefaultignorablecodepoint ogrext othergraphemeextend oidc otheridcontinue oids
  otheridstart olower otherlowercase omath othermath oupper otheruppercase patsyn patternsyntax patws patternwhitespace pcm
  prependedconcatenationmark qmark quotationmark radical ri regionalindicator sterm sentenceterminal sd softdotted term
  terminalpunctuation uideo unifiedideograph upper uppercase vs variationselector space whitespace wspace xidc xidcontinue xids
  xidstart`);

const GENERAL_CATEGORY =
  words(`any assigned ascii c other cc cntrl control cf format cn unassigned co privateuse l letter lc casedletter ll lowercaseletter lm
  modifierletter lo otherletter lt titlecaseletter lu uppercaseletter m mark combiningmark mc spacingmark me enclosingmark mn
  nonspacingmark n number nd decimalnumber digit nl letternumber no othernumber p punct punctuation pc connectorpunctuation pd
  dashpunctuation pe closepunctuation pf finalpunctuation pi initialpunctuation po otherpunctuation ps openpunctuation s symbol sc
  currencysymbol sk modifiersymbol sm mathsymbol so othersymbol z separator zl lineseparator zp paragraphseparator zs spaceseparator`);

const SCRIPT =
  words(`adlam adlm aghb caucasianalbanian ahom anatolianhieroglyphs hluw arab arabic armenian armn armi imperialaramaic avestan avst bali
  balinese bamu bamum bass bassavah batak batk beng bengali bhaiksuki bhks bopo bopomofo brah brahmi brai braille bugi buginese buhd
  buhid cakm chakma canadianaboriginal cans cari carian cham cher cherokee chorasmian chrs common zyyy copt coptic qaac cpmn
  cyprominoan cprt cypriot cuneiform xsux cyrillic cyrl deseret dsrt deva devanagari diak divesakuru dogr dogra dupl duployan egyp
  egyptianhieroglyphs elba elbasan elym elymaic ethi ethiopic gara garay geor georgian glag glagolitic gong gunjalagondi gonm
  masaramgondi goth gothic gran grantha greek grek gujarati gujr gukh gurungkhema gurmukhi guru han hani hang hangul hanifirohingya
  rohg hano hanunoo hatr hatran hebr hebrew hira hiragana hmng pahawhhmong hmnp nyiakengpuachuehmong hung oldhungarian inherited zinh
  qaai inscriptionalpahlavi phli inscriptionalparthian prti ital olditalic java javanese kaithi kthi kali kayahli kana katakana
  kannada knda kawi khar kharoshthi khitansmallscript kits khmer khmr khoj khojki khudawadi sind kiratrai krai lana taitham lao laoo
  latin latn lepc lepcha limb limbu lina lineara linb linearb lisu lyci lycian lydi lydian mahajani mahj maka makasar malayalam mlym
  mand mandaic mani manichaean marc marchen medefaidrin medf meeteimayek mtei mend mendekikakui merc meroiticcursive mero
  meroitichieroglyphs miao plrd modi mong mongolian mro mroo mult multani myanmar mymr nabataean nbat nagm nagmundari nand nandinagari
  narb oldnortharabian newa newtailue talu nko nkoo nshu nushu ogam ogham olchiki olck oldpermic perm oldpersian xpeo oldsogdian sogo
  oldsoutharabian sarb oldturkic orkh olduyghur ougr olonal onao oriya orya osage osge osma osmanya palm palmyrene pauc paucinhau phag
  phagspa phlp psalterpahlavi phnx phoenician rejang rjng runic runr samaritan samr saur saurashtra sgnw signwriting sharada shrd
  shavian shaw sidd siddham sinh sinhala sogd sogdian sora sorasompeng soyo soyombo sund sundanese sunu sunuwar sylo sylotinagri syrc
  syriac tagalog tglg tagb tagbanwa taile tale taiviet tavt takr takri tamil taml tang tangut tangsa tnsa telu telugu tfng tifinagh
  thaa thaana thai tibetan tibt tirh tirhuta todhri todr toto tulutigalari tutg ugar ugaritic vai vaii vith vithkuqi wancho wcho wara
  warangciti yezi yezidi yi yiii zanabazarsquare zanb`);

const AGE =
  words(`1.1 2.0 2.1 3.0 3.1 3.2 4.0 4.1 5.0 5.1 5.2 6.0 6.1 6.2 6.3 7.0 8.0 9.0 10.0 11.0 12.0 12.1 13.0 14.0 15.0 15.1 16.0 v11 v20 v21
  v30 v31 v32 v40 v41 v50 v51 v52 v60 v61 v62 v63 v70 v80 v90 v100 v110 v120 v121 v130 v140 v150 v151 v160`);

const GRAPHEME_CLUSTER_BREAK = words('cn control cr ex extend l lf lv lvt pp prepend ri regionalindicator sm spacingmark t v zwj');

const SENTENCE_BREAK = words(
  `at aterm cl close cr ex extend fo format le oletter lf lo lower nu numeric sc scontinue se sep sp st sterm up upper`,
);

const WORD_BREAK =
  words(`aletter le cr doublequote dq ex extendnumlet extend fo format hebrewletter hl ka katakana lf mb midnumlet midletter ml midnum mn
  newline nl nu numeric regionalindicator ri singlequote sq wsegspace zwj`);

const BY_VALUE: ReadonlyMap<string, ReadonlySet<string>> = new Map([
  ['gc', GENERAL_CATEGORY],
  ['generalcategory', GENERAL_CATEGORY],
  ['sc', SCRIPT],
  ['script', SCRIPT],
  ['scx', SCRIPT],
  ['scriptextensions', SCRIPT],
  ['age', AGE],
  ['gcb', GRAPHEME_CLUSTER_BREAK],
  ['graphemeclusterbreak', GRAPHEME_CLUSTER_BREAK],
  ['sb', SENTENCE_BREAK],
  ['sentencebreak', SENTENCE_BREAK],
  ['wb', WORD_BREAK],
  ['wordbreak', WORD_BREAK],
]);

/** Properties with hundreds of ranges. */
const LARGE =
  words(`l letter lc casedletter ll lo lu alpha alphabetic c other cn unassigned assigned idc idcontinue ids idstart xidc xidcontinue
  xids xidstart`);

/** Checks `name`, `name=value`, `name:value` or `name!=value`; null if the engine has the property. */
export function unicodeClassFault(written: string): string | null {
  const separator = /!=|:/.exec(written) ?? /=/.exec(written);
  if (separator === null) {
    const name = normalizeProperty(written);
    return BINARY.has(name) || GENERAL_CATEGORY.has(name) || SCRIPT.has(name) ? null : 'the Unicode property is unknown';
  }
  const values = BY_VALUE.get(normalizeProperty(written.slice(0, separator.index)));
  if (values === undefined) return 'the Unicode property is unknown';
  const value = normalizeProperty(written.slice(separator.index + separator[0].length));
  return values.has(value) ? null : 'the value of the Unicode property is unknown';
}

/** Of a property's automaton, estimated, in bytes. */
export function unicodeClassSize(written: string): number {
  return LARGE.has(normalizeProperty(written)) ? 45_000 : 6_000;
}

/** Loose form (UAX #44, LM3). */
export function normalizeProperty(name: string): string {
  const loose = name
    .replace(/^is/i, '')
    .replace(/[ _-]|[^\0-\x7f]/g, '')
    .toLowerCase();
  // "isc" is a property (ISO_Comment), not the category C with "is" before it.
  return loose === 'c' && /^is/i.test(name) ? 'isc' : loose;
}
