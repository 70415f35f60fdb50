/** SPEC D10.14. */
import { type Fields, nullable, Type } from '../../json/schema.ts';
import { LEFT_OUT } from '../feed-state.ts';

const FeedForecast = Type.Object({
  id: nullable(Type.String(), { description: "UUID of the list or composed feed; null: the workspace's feed." }),
  kind: Type.Enum(['workspace', 'list', 'composed']),
  name: Type.String(),
  action: Type.Enum(['block', 'allow'], { description: 'The block list or the allow list.' }),
  entries_before: Type.Integer(),
  entries_after: Type.Integer(),
  entry_limit: Type.Integer({ description: 'Above this limit polls get a 413.' }),
  left_out: Type.Optional(LEFT_OUT[1]),
  widened: Type.Optional(
    Type.Object(
      { hosts: Type.Integer(), as_sent: Type.Integer() },
      {
        description:
          'Blocked addresses served as networks (widen_v4, widen_v6), and as sent because their network has protected addresses.',
      },
    ),
  ),
  frozen_since: Type.Optional(Type.String({ description: 'The feed has been frozen since then: it changes when it is thawed.' })),
  warning: Type.Optional(
    Type.String({ description: 'Set if a country or ASN makes the feed exceed its limit, or more content would be left out.' }),
  ),
});

export const feedFields = (when: string) => ({
  feeds: Type.Optional(
    Type.Union([Type.Array(FeedForecast, { maxItems: 40 }), Type.Literal('unknown')], {
      description: `${when} only: feeds that would change, at most 20, in their stored format and family.`,
    }),
  ),
  feeds_left_out: Type.Optional(Type.Integer({ description: `${when} only: number of further affected feeds.` })),
  feeds_reason: Type.Optional(Type.String({ description: 'The reason if feeds is unknown.' })),
});

export const FEED_FIELDS = feedFields('Previews');

/** A feed with its `subtract_allow`, as `POST /allow` sets it. */
export const FEED_SETTING = {
  kind: ['workspace', Type.Enum(['workspace', 'list', 'composed'])],
  id: [null, nullable(Type.String())],
  name: 'default',
  subtract_allow: ['on', nullable(Type.Enum(['off', 'on', 'workspace']))],
} as const satisfies Fields;
