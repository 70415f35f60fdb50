import type { Static } from 'typebox';
import { nullable, Type } from '../../json-schema.ts';
import { MOST_DETAILS } from '../../signal/faults.ts';

/** The bodies of the signal endpoints' answers, for the API documentation and for the code that makes them. */

/** What a dry run says of one feed (D10.14). */
const FeedForecast = Type.Object({
  id: nullable(Type.String(), { description: "UUID of the list or feed made of lists; null: the workspace's feed." }),
  kind: Type.Enum(['workspace', 'list', 'composed']),
  name: Type.String(),
  action: Type.Enum(['block', 'allow'], { description: 'The deny list or the never-block list.' }),
  entries_before: Type.Integer(),
  entries_after: Type.Integer(),
  entry_limit: Type.Integer({ description: 'Over it the feed is answered with 413.' }),
  warning: Type.Optional(Type.String({ description: 'A country or an ASN takes the feed over its cap.' })),
});

/** What only the answer to a dry run has (D10.14). */
const DRY_RUN_FIELDS = {
  feeds: Type.Optional(
    Type.Union([Type.Array(FeedForecast, { maxItems: 40 }), Type.Literal('unknown')], {
      description: 'Dry runs only: the feeds that the batch would change, 20 at most, in their stored format and family.',
    }),
  ),
  feeds_left_out: Type.Optional(Type.Integer({ description: 'Dry runs only: how many more feeds the batch concerns.' })),
  feeds_reason: Type.Optional(Type.String({ description: 'Why feeds is unknown.' })),
};

/** The body of 200 and 206 (spec 2.5). */
export const SignalSummary = Type.Object(
  {
    success: Type.Boolean({ description: 'True when every entry was processed.' }),
    message: Type.String({ description: 'Processed <n> entries, <m> failed' }),
    errors: Type.Optional(
      Type.Array(Type.String(), { description: 'One reason per failed entry; always there on 206, empty on 200 of v2.' }),
    ),
    ...DRY_RUN_FIELDS,
    warnings: Type.Optional(Type.Array(Type.String(), { description: 'Dry runs only: what agents would silently ignore of a rule.' })),
  },
  { title: 'SignalSummary' },
);
export type SignalSummary = Static<typeof SignalSummary>;

/** The body of 400 (spec 7.2). */
export const BatchRefusal = Type.Object(
  {
    error: Type.String(),
    message: Type.String({ description: 'Names the first fault.' }),
    details: Type.Array(
      Type.Object({
        field: Type.String({ description: 'Where: a path such as rule.type, or body for the batch itself.' }),
        message: Type.String({ description: 'What is allowed there.' }),
        value: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], { description: 'What was sent.' }),
        index: Type.Optional(Type.Integer({ minimum: 0, description: 'The entry, counted from 0.' })),
      }),
      { maxItems: MOST_DETAILS },
    ),
    code: Type.Integer(),
  },
  { title: 'BatchRefusal' },
);

/** The body of every other error. */
export const SignalError = Type.Object({ error: Type.String(), message: Type.String(), code: Type.Integer() }, { title: 'SignalError' });
