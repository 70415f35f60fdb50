/** What dry runs and previews say of feeds, in their answers (SPEC D10.14). */
import { nullable, Type } from '../../json/schema.ts';
import { LEFT_OUT } from '../feed-state.ts';

const FeedForecast = Type.Object({
  id: nullable(Type.String(), { description: "UUID of the list or feed made of lists; null: the workspace's feed." }),
  kind: Type.Enum(['workspace', 'list', 'composed']),
  name: Type.String(),
  action: Type.Enum(['block', 'allow'], { description: 'The deny list or the never-block list.' }),
  entries_before: Type.Integer(),
  entries_after: Type.Integer(),
  entry_limit: Type.Integer({ description: 'Over it the feed is answered with 413.' }),
  left_out: Type.Optional(LEFT_OUT[1]),
  warning: Type.Optional(Type.String({ description: 'A country or an ASN takes the feed over its cap, or it would leave more out.' })),
});

/** `when`: which requests have them. */
export const feedFields = (when: string) => ({
  feeds: Type.Optional(
    Type.Union([Type.Array(FeedForecast, { maxItems: 40 }), Type.Literal('unknown')], {
      description: `${when} only: the feeds that would change, 20 at most, in their stored format and family.`,
    }),
  ),
  feeds_left_out: Type.Optional(Type.Integer({ description: `${when} only: how many more feeds are concerned.` })),
  feeds_reason: Type.Optional(Type.String({ description: 'Why feeds is unknown.' })),
});

export const FEED_FIELDS = feedFields('Previews');
