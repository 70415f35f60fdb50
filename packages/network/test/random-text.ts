import type { Random } from '../../../test/support/random.ts';

/** Texts near the edges of the notation, valid and invalid. */
const CORPUS = [
  ...['0.0.0.0', '255.255.255.255', '1.2.3.4/0', '1.2.3.4/32', '1.2.3.4/33', '1.2.3.4/', '1.2.3.4/08', '010.0.0.1', '1.2.3', '1.2.3.4.5'],
  ...['0x7f.1', '127.1', '1.2.3.4/255.255.255.0', '1.2.3.4/0.0.0.255', '192.168.1.1/+8', '256.1.1.1', '1.2.3.1000', '00.0.0.0', '1..2.3'],
  ...[
    '::',
    '::/0',
    '::/00',
    '::1',
    '1::',
    '::1/128',
    '::1/129',
    '2001:db8::/32',
    '2001:DB8:0:0:1:0:0:1',
    '1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7::',
  ],
  ...[
    '1:2:3:4:5:6:7:8::',
    '::1:2:3:4:5:6:7:8',
    '1:2:3:4:5:6:7',
    '1:2:3:4:5:6:7:8:9',
    ':1::',
    '1:::2',
    '1::2::3',
    '12345::',
    '::g',
    'fe80::1%eth0',
  ],
  ...[
    '::ffff:1.2.3.4',
    '::ffff:1.2.3.4/96',
    '::ffff:1.2.3.4/95',
    '::FFFF:0:0/100',
    '::ffff:1.2.3.04',
    '::1.2.3.4',
    '64:ff9b::1.2.3.4/96',
    '::1.2.3.4:5',
  ],
  ...[
    '1:2:3:4:5:6:1.2.3.4',
    '1:2:3:4:5:6:7:1.2.3.4',
    '1:2:3:4:5::1.2.3.4',
    '1:2:3:4:5:6::1.2.3.4',
    '0:0:0:0:0:ffff:ffff:ffff/112',
    '[::1]',
    '',
    '/',
    '/8',
  ],
];
const ALPHABET = [...'0123456789abcdefABCDEFgx.:/:.% -+,[]\t\n_', '::', '٣', '１', '\u0000', '0', '1', '255', '/32', 'ffff', '\ud800'];

const groups = (random: Random, count: number) =>
  Array.from({ length: count }, () => random.below(random.pick([2, 16, 65536])).toString(16));

function randomValid(random: Random): string {
  const octets = Array.from({ length: 4 }, () => random.below(random.pick([2, 256]))).join('.');
  const prefix = (bits: number) => (random.below(2) === 0 ? '' : `/${random.below(bits + 1)}`);
  switch (random.below(5)) {
    case 0:
      return octets + prefix(32);
    case 1:
      return groups(random, 8).join(':') + prefix(128);
    case 2:
      return `::ffff:${random.below(2) === 0 ? octets : groups(random, 2).join(':')}${prefix(128)}`;
    case 3: {
      const left = random.below(7);
      return `${groups(random, left).join(':')}::${groups(random, random.below(7 - left)).join(':')}${prefix(128)}`;
    }
    default: {
      const left = random.below(6);
      return `${groups(random, left).join(':')}::${octets}${prefix(128)}`;
    }
  }
}

/** Inserts, removes, replaces, doubles or swaps characters. */
function mutate(random: Random, text: string): string {
  const at = random.below(text.length + 1);
  const [before, after] = [text.slice(0, at), text.slice(at)];
  switch (random.below(5)) {
    case 0:
      return before + random.pick(ALPHABET) + after;
    case 1:
      return before + after.slice(1);
    case 2:
      return before + random.pick(ALPHABET) + after.slice(1);
    case 3:
      return before + after.slice(0, 2) + after;
    default:
      return before + after.slice(1, 2) + after.slice(0, 1) + after.slice(2);
  }
}

/** A valid or almost valid network. */
export function randomText(random: Random): string {
  let text = random.below(3) === 0 ? random.pick(CORPUS) : randomValid(random);
  for (let left = random.below(4); left > 0; left--) text = mutate(random, text);
  return text;
}
