/** What is fuzzed: one row a target. */
import { packagedSchemes } from '../../packages/expression/scheme.ts';
import { expressions, regexes } from '../../packages/expression/test/corpus.ts';
import { oneExpression, oneRegex } from './expression-targets.ts';
import { oneNetwork, setsOfNetworks } from './network-targets.ts';
import { BATCH_WORDS, BATCHES, oneBatch } from './signal-targets.ts';

/** A target: a text goes in; what must hold is asserted. */
export interface Target {
  readonly run: (text: string) => void;
  /** The rule that is tried. */
  readonly rule: string;
  /** Folder whose blocks steer. */
  readonly folder: string;
  readonly seeds: readonly string[];
  /** What means something to it. */
  readonly words: readonly string[];
}

const NETWORKS = [
  '0.0.0.0/0',
  '::/0',
  '192.0.2.1',
  '198.51.100.0/24',
  '255.255.255.255',
  '2001:db8::/32',
  '::ffff:192.0.2.1',
  '::1',
  'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff',
];

export const TARGETS: Readonly<Record<string, Target>> = {
  network: {
    run: oneNetwork,
    rule: '4.3.4',
    folder: '/packages/network/',
    seeds: [...NETWORKS, '192.0.2.1-192.0.2.9', '2001:db8::1-2001:db8::ffff', '1:2:3:4:5:6:7.8.9.10/128'],
    words: [...NETWORKS, '::', ':0', '/0', '/32', '/128', '.0', '-', 'ffff'],
  },
  sets: {
    run: setsOfNetworks,
    rule: '4.3.4',
    folder: '/packages/network/',
    seeds: [
      NETWORKS.join(' '),
      `${NETWORKS.slice(2).join(' ')}|192.0.2.0/25 ::2|2001:db8::/33|0.0.0.0/1`,
      '10.0.0.0/8|10.1.0.0/16 10.0.0.1|10.0.0.0/9',
    ],
    words: [...NETWORKS, '|', ' ', '10.0.0.0/8', '10.0.0.1', '10.0.0.2/31', '::/1', '8000::/1', '128.0.0.0/1', '2001:db8::1'],
  },
  expression: {
    run: oneExpression,
    rule: '2.4',
    folder: '/packages/expression/',
    seeds: expressions.map(({ expression }) => expression),
    words: [
      ...packagedSchemes().waf_rule.names.keys(),
      ...' == | != | in {| in $| contains | matches | wildcard | strict wildcard | and | or | xor |not |any(|all(|[*]|["a"]|[0]|r#"|"#|..|/24| & |0x|\\x|\\"|::1|192.0.2.1'.split(
        '|',
      ),
    ],
  },
  regex: {
    run: oneRegex,
    rule: '2.4',
    folder: '/packages/expression/regex/',
    seeds: regexes.map(({ pattern }) => pattern),
    words:
      '(?:|(?i)|(?u)|(?x)|(?s)|(?m)|(?R)|(?-u)|(?P<a>|[^|[[:alpha:]]|&&|--|~~|\\b|\\B|\\b{start}|\\b{end-half}|\\A|\\z|\\d|\\W|\\s|\\pL|\\p{Greek}|\\x{e9}|\\xff|{2,5}|{0}|*?|+?||'
        .split('|')
        .concat('|'),
  },
  signals: { run: oneBatch, rule: '4.2', folder: '/src/signal/', seeds: BATCHES, words: BATCH_WORDS },
};
