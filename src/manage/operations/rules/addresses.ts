/** What networks would add to the addresses of a list, asked before they are sent (SPEC D44.5). */
import { WeirError } from '../../../errors.ts';
import { answerOf, Type, textField, wordField } from '../../../json/schema.ts';
import { readTarget } from '../../../signal/target.ts';
import { findList } from '../../find.ts';
import { addedAddresses } from '../../imports/added-addresses.ts';
import { fieldFault, type Operation, operation } from '../../operation.ts';

/** Networks of one request. */
export const MOST_NETWORKS = 10_000;

const count = (description: string) => Type.Integer({ description });

/** `AddressChange` in answers. */
export const ADDRESSES = Type.Array(
  Type.Object({
    action: Type.Enum(['block', 'allow']),
    family: Type.Enum([4, 6]),
    before: count('Addresses that the list has; an IPv6 /64 counts as one.'),
    after: count('Addresses that it would have.'),
    added: count('Addresses that it does not have.'),
    removed: count('Addresses that it would not have any more.'),
    widest: Type.Array(Type.String(), { description: 'The widest networks, countries and ASNs that are new, at most three.' }),
  }),
  { description: 'What becomes of the addresses of the list, by action and family.' },
);
const EXAMPLE = { action: 'block', family: 4, before: 2000, after: 16_779_216, added: 16_777_216, removed: 0, widest: ['60.0.0.0/8'] };

export const ADDRESS_OPERATIONS: readonly Operation[] = [
  operation('countAddresses', 'POST /addresses', 'signal:write', {
    bound: true,
    summary: 'What networks would add to the addresses of a list',
    description:
      'Nothing is sent. A client that adds networks to a list asks a person first where `faults` has a sentence: more than half of the addresses of the list, or of its rules, would be added. Networks no wider than /24 (IPv4) and /48 (IPv6) never need that, nor does a list without rules.',
    bodyBytes: 1024 * 1024,
    body: Type.Object({
      networks: Type.Array(Type.String({ maxLength: 50 }), { minItems: 1, maxItems: MOST_NETWORKS }),
      list: textField(200, 'UUID or name; the list of the key, or the default list, when absent.', { minLength: 1 }),
      action: wordField(['block', 'allow'], 'block when absent.'),
      batch: textField(100, 'A batch of the same file: rules that it made, or that came later, do not count as being in the list.'),
    }),
    answer: answerOf('AddedAddresses', {
      addresses: [[EXAMPLE], ADDRESSES],
      faults: [[], Type.Array(Type.String(), { description: 'Why somebody has to be sure.' })],
    }),
    refusals: { 404: 'No such access-rules list' },
    examples: [{ list: 'default', networks: ['60.0.0.0/8'] }],
    async run(context, { body: { networks, list: ref, action = 'block', batch } }) {
      const { store, workspaceId, caller } = context;
      const list = await findList(store, workspaceId, ref ?? caller.listId ?? (await store.defaultList(workspaceId))!);
      if (caller.listId !== null && caller.listId !== list.id) throw new WeirError('FORBIDDEN', 'The key is bound to another list');
      const entries = networks.map((text) => {
        const target = readTarget('ip', text);
        if (typeof target === 'string') throw fieldFault('networks', `has ${JSON.stringify(text)}: ${target}`);
        return { target, action: action as 'block', expiry: undefined };
      });
      // It reads the whole list: a workspace has one at a time.
      const added = await context.inTurn(
        () => addedAddresses(context, { caller, listId: list.id, batch }, entries),
        `addresses ${workspaceId}`,
      );
      return added ?? { addresses: [], faults: [] };
    },
  }),
];
