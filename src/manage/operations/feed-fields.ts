/** What previews say of feeds, as the answer to a dry run does (SPEC D10.14). */
import { nullable, Type } from '../../json-schema.ts';

const FeedChange = Type.Object({
  id: nullable(Type.String(), { description: "UUID of the list or feed made of lists; null: the workspace's feed." }),
  kind: Type.Enum(['workspace', 'list', 'composed']),
  name: Type.String(),
  action: Type.Enum(['block', 'allow']),
  entries_before: Type.Integer(),
  entries_after: Type.Integer(),
  entry_limit: Type.Integer({ description: 'Over it the feed is answered with 413.' }),
  warning: Type.Optional(Type.String()),
});

export const FEED_FIELDS = {
  feeds: Type.Optional(
    Type.Union([Type.Array(FeedChange), Type.Literal('unknown')], {
      description: 'Previews only: the feeds that would change, 20 at most, in their stored format and family.',
    }),
  ),
  feeds_left_out: Type.Optional(Type.Integer({ description: 'Previews only: how many more feeds are concerned.' })),
  feeds_reason: Type.Optional(Type.String({ description: 'Why feeds is unknown.' })),
};
