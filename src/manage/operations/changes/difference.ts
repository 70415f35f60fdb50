/** What a feed had more and less at one moment than at another (SPEC D32.6). */

import { FAMILIES } from '../../../feed/variant.ts';
import { answerOf, type Fields, listOf, nullable, Type, textField, wordField } from '../../../json/schema.ts';
import { RULES_KEPT } from '../../../ports/stored/account-store.ts';
import { ACCESS_ACTIONS } from '../../../rule.ts';
import { inWords } from '../../../text/duration.ts';
import { differenceJson } from '../../changes/difference.ts';
import { type Operation, operation } from '../../operation.ts';
import { sinceGiven } from './changes.ts';

/** Networks that an answer names at most, of what came and of what went. */
const MOST_NAMED = 200_000;
const AT: Fields = { entries: 1180, over_cap: [false, 'It was answered 413.'] };
const networks = (example: string, description: string) => [[example], Type.Array(Type.String(), { description })] as const;

export const DIFFERENCE_OPERATIONS: readonly Operation[] = [
  operation('feedDifference', 'GET /difference', 'rules:read', {
    summary: `The networks that a feed had more and less at one moment than at another, as far as ${inWords(RULES_KEPT)} back`,
    description:
      'Made from the rules and the settings as they were then; the geo data, and what the service protects, are those of now. settings_changed tells what was set since. What cannot be made again is 409.',
    query: Type.Object({
      feed: textField(200, "UUID or name of a list or feed; the workspace's when absent."),
      since: Type.String({ maxLength: 40, description: 'The first moment: an instant, or how long ago, such as 2h.' }),
      until: textField(40, 'The second; now when absent.'),
      family: wordField(FAMILIES, 'As the feed stores it when absent.'),
      action: wordField(ACCESS_ACTIONS, 'As the feed stores it when absent.'),
      limit: Type.Optional(
        Type.Integer({
          minimum: 0,
          maximum: MOST_NAMED,
          description: 'Networks that are named, of what came and of what went; 1,000 when absent.',
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
      added: [3, 'The fewest networks that have exactly the addresses that it has now and had not.'],
      removed: [1, 'Those that it had and has not.'],
      added_networks: networks('198.51.100.7', 'The first of them.'),
      removed_networks: networks('203.0.113.0/24', 'The first of them.'),
      settings_changed: listOf({
        at: '2026-11-22T18:04:11.000Z',
        event: 'feed changed',
        name: ['edge', nullable(Type.String())],
      }),
    }),
    refusals: {
      404: 'there is no list or feed "edge"',
      409: 'what the feed had then is not known any more: changes of rules are kept since …',
      413: 'comparing the feed takes longer than 60 s',
    },
    isLong: true,
    async run({ store, workspaceId, now, difference }, { query: { feed, since, until, family, action, limit = 1000 } }) {
      const at = now();
      return differenceJson(
        store,
        difference,
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
