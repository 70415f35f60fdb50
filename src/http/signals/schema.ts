import { type Static, Type } from '../../json/schema.ts';
import { feedFields } from '../../manage/operations/feed-fields.ts';
import { MOST_DETAILS } from '../../signal/faults.ts';

/** spec 2.5. */
export const SignalSummary = Type.Object(
  {
    success: Type.Boolean({ description: 'True when every entry was processed.' }),
    message: Type.String({ description: 'Processed <n> entries, <m> failed' }),
    errors: Type.Optional(
      Type.Array(Type.String(), { description: 'One reason per failed entry; always present on 206, empty on 200 of v2.' }),
    ),
    ...feedFields('Dry runs'),
    warnings: Type.Optional(
      Type.Array(Type.String(), {
        description:
          'Probable mistakes in accepted entries: parts of an expression that are always or never true, and members without effect. For v1, and for conditions that agents ignore: dry runs only.',
      }),
    ),
  },
  { title: 'SignalSummary' },
);
export type SignalSummary = Static<typeof SignalSummary>;

/** spec 7.2. */
export const BatchRefusal = Type.Object(
  {
    error: Type.String(),
    message: Type.String({ description: 'Quotes the first fault.' }),
    details: Type.Array(
      Type.Object({
        field: Type.String({ description: 'A path such as rule.type, or body for the batch itself.' }),
        message: Type.String({ description: 'Allowed values.' }),
        value: Type.Union([Type.String(), Type.Number(), Type.Boolean(), Type.Null()], { description: 'Value sent.' }),
        index: Type.Optional(Type.Integer({ minimum: 0, description: 'Index of the entry, from 0.' })),
      }),
      { maxItems: MOST_DETAILS },
    ),
    code: Type.Integer(),
  },
  { title: 'BatchRefusal' },
);

export const SignalError = Type.Object({ error: Type.String(), message: Type.String(), code: Type.Integer() }, { title: 'SignalError' });
