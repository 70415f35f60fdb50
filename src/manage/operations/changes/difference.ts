/** SPEC D32.6. */

import { FAMILIES } from '../../../feed/variant.ts';
import { answerOf, type Fields, listOf, nullable, Type, textField, wordField } from '../../../json/schema.ts';
import { RULE_RETENTION } from '../../../ports/stored/account-store.ts';
import { ACCESS_ACTIONS } from '../../../rule.ts';
import { inWords } from '../../../text/duration.ts';
import { differenceJson } from '../../changes/difference.ts';
import { type Operation, operation } from '../../operation.ts';
import { sinceGiven } from './changes.ts';

/** Added and removed ones each. */
const MOST_NAMED = 200_000;
const AT: Fields = { entries: 1180, over_cap: [false, 'The feed exceeded its limit (413).'] };
const networks = (example: string, description: string) => [[example], Type.Array(Type.String(), { description })] as const;

export const DIFFERENCE_OPERATIONS: readonly Operation[] = [
  operation('feedDifference', 'GET /difference', 'rules:read', {
    summary: `Compare a feed at two points in time, up to ${inWords(RULE_RETENTION)} back, with an archive up to ARCHIVE_DAYS`,
    description:
      'Reconstructs the feed from the rules and settings of that time, but with current geo data and protected networks. settings_changed lists later changes of settings. If the feed cannot be reconstructed, the response is a 409. Earlier times come from the archive, with the protected networks of both times; rules on countries and ASNs that matter are then a 409.',
    query: Type.Object({
      feed: textField(200, "UUID or name of a list or feed; default: the workspace's feed."),
      since: Type.String({ maxLength: 40, description: 'The first point in time: an instant or an age such as 2h.' }),
      until: textField(40, 'The second one; default: now.'),
      family: wordField(FAMILIES, "Default: the feed's own family."),
      action: wordField(ACCESS_ACTIONS, "Default: the feed's own action."),
      limit: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: MOST_NAMED,
          description: 'Networks in the response, added and removed ones each; default 1,000.',
        }),
      ),
    }),
    answer: answerOf('Difference', {
      since: '2026-11-22T10:00:00.000Z',
      until: '2026-11-23T10:00:00.000Z',
      family: ['both', Type.Enum([...FAMILIES])],
      action: ['block', Type.Enum([...ACCESS_ACTIONS])],
      before: AT,
      after: AT,
      added: [3, 'The minimal number of networks that cover exactly the added addresses.'],
      removed: [1, 'The same for the removed addresses.'],
      added_networks: networks('198.51.100.7', 'The first added networks.'),
      removed_networks: networks('203.0.113.0/24', 'The first removed networks.'),
      frozen_since: [
        null,
        nullable(Type.String({ description: 'The feed has been frozen since then: it does not change, its rules do.' })),
      ],
      settings_changed: listOf({
        at: '2026-11-22T18:04:11.000Z',
        event: 'feed changed',
        name: ['edge', nullable(Type.String())],
      }),
    }),
    refusals: {
      404: 'there is no list or feed "edge"',
      409: "the feed's content at that time is no longer known: rule changes are stored since …",
      413: 'comparing the feed takes longer than 60 s',
    },
    isLong: true,
    async run({ store, workspaceId, now, difference, past }, { query: { feed, since, until, family, action, limit = 1000 } }) {
      const at = now();
      return differenceJson(
        store,
        { difference, past },
        workspaceId,
        {
          feed,
          since: sinceGiven('since', since, at),
          until: until === undefined ? at : sinceGiven('until', until, at),
          family: FAMILIES.find((each) => each === family),
          action: ACCESS_ACTIONS.find((each) => each === action),
          limit,
        },
        at,
      );
    },
  }),
];
