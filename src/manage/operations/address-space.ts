/** SPEC D53. */
import { formatNetwork } from '@weir/network/format.ts';
import { parseNetwork } from '@weir/network/parse.ts';
import { isoTime, within } from '../../clock.ts';
import { hasCode, WeirError } from '../../errors.ts';
import type { Block, MapNetwork } from '../../feed/builder.ts';
import { FAMILIES } from '../../feed/variant.ts';
import { answerOf, type Fields, listOf, nullable, Type, textField } from '../../json/schema.ts';
import { ACCESS_ACTIONS } from '../../rule.ts';
import { anyFeedId } from '../find.ts';
import { fieldFault, type Operation, operation } from '../operation.ts';

const PREFIXES = [0, 8, 16];
/** ms */
const MAP_LIMIT = 20_000;
const NO_FEEDS = 'this process builds no feeds (ROLES)';
const DELETED = 'the feed was deleted';

const Counts = (description: string) => Type.Array(Type.Integer(), { description });
const WIDEST_RULE = {
  id: 81,
  target: ['45.83.64.0/22', 'A network, an ASN or a country.'],
  list_name: ['scanners', nullable(Type.String())],
} as const satisfies Fields;
const BLOCK = {
  network: '45.83.64.0/22',
  addresses: [1024, Type.Number({ description: 'IPv6: with the precision of a double.' })],
  networks: [1, 'Networks of the feed in it.'],
  rules: [3, 'Rules with an address of it.'],
  widest_rules: listOf(WIDEST_RULE, { description: 'The widest of these rules, at most five.' }),
} as const satisfies Fields;

const AddressSpace = answerOf('AddressSpace', {
  feed_id: ['0195a3c0-0000-7000-8000-000000000001', nullable(Type.String())],
  name: 'perimeter',
  family: ['both', Type.Enum([...FAMILIES])],
  action: ['block', Type.Enum([...ACCESS_ACTIONS])],
  entries: 9100,
  entry_limit: 131_072,
  over_cap: [false, 'The feed exceeds its limit: clients get a 413.'],
  stale_since: [null, nullable(Type.String())],
  within: ['45.0.0.0/8', 'The mapped network.'],
  child_prefix: [16, 'The prefix length of its 256 children.'],
  addresses: [[1024, 0, 256], Counts('Addresses of the feed in each child, in order.')],
  rules: [[2, 0, 1], Counts('Rules for networks within each child.')],
  protected: [[0, 65_536, 0], Counts('Addresses in each child that are protected from being blocked.')],
  never_block: [[0, 0, 1], Counts('Addresses in each child that never-block rules exclude from this feed.')],
  widest: listOf(BLOCK, { description: 'The widest IPv4 networks of the feed in the mapped network, at most ten.' }),
  v6: listOf(
    { ...BLOCK, network: '2001:db8::/32', addresses: [79_228_162_514, Type.Number()] },
    { description: 'The IPv6 networks of /32 and wider with the most addresses of the feed, at most ten.' },
  ),
});

function mapNetwork(text: string): MapNetwork {
  const network = parseNetwork(text);
  if (typeof network === 'string') throw fieldFault('within', network);
  if (network.family !== 4 || !PREFIXES.includes(network.prefix))
    throw fieldFault('within', `must be an IPv4 network with one of the prefix lengths ${PREFIXES.join(', ')}`);
  return network;
}

const blockJson = ({ widest, ...block }: Block) => ({
  ...block,
  widest_rules: widest.map(({ id, target, list }) => ({ id, target, list_name: list })),
});

export const ADDRESS_SPACE_OPERATIONS: readonly Operation[] = [
  operation('getAddressSpace', 'GET /address-space', 'rules:read', {
    summary: 'Count the addresses of a feed by network, with its widest networks',
    description: 'For the feed in its stored format, family and action, as currently served; also if it exceeds its limit.',
    query: Type.Object({
      feed: textField(200, "UUID or name of a list or feed; default: the workspace's feed."),
      within: textField(18, 'An IPv4 network of prefix length 0, 8 or 16; default 0.0.0.0/0.'),
    }),
    answer: AddressSpace,
    refusals: { 404: 'there is no list or feed "edge"', 409: NO_FEEDS },
    async run({ documents, addressMap, store, workspaceId }, { query: { feed, within: text = '0.0.0.0/0' } }) {
      if (documents === undefined || addressMap === undefined) throw new WeirError('REFUSED', NO_FEEDS);
      const network = mapNetwork(text);
      const feedId = feed === undefined ? null : await anyFeedId(store, workspaceId, feed);
      const served = await documents.find({ workspaceId, list: feedId, variant: { document: 'feed' }, boundTo: null });
      if (served.kind !== 'document' && served.kind !== 'too_large') throw new WeirError('NOT_FOUND', DELETED);
      const { facts, staleSince } = served;
      const request = { workspaceId, feedId, within: network, offline: staleSince !== undefined };
      const map = await within(addressMap.addressSpace(request), MAP_LIMIT, 'the feed thread').catch((error: unknown) => {
        throw hasCode(error, 'TIMEOUT') ? new WeirError('REFUSED', 'this currently takes too long: try again') : error;
      });
      if (map === undefined) throw new WeirError('NOT_FOUND', DELETED);
      return {
        feed_id: feedId,
        ...{ name: map.name, family: map.family, action: map.action },
        entries: facts.entryCount,
        entry_limit: facts.entryLimit,
        over_cap: facts.entryCount > facts.entryLimit,
        stale_since: staleSince === undefined ? null : isoTime(staleSince * 1000),
        within: formatNetwork({ family: 4, ...network }),
        child_prefix: network.prefix + 8,
        addresses: map.addresses,
        rules: map.rules,
        protected: map.protected,
        never_block: map.neverBlock,
        widest: map.widest.map(blockJson),
        v6: map.v6.map(blockJson),
      };
    },
  }),
];
