/** SPEC D44.5. */
import { WeirError } from '../../../errors.ts';
import { answerOf, Type, textField, wordField } from '../../../json/schema.ts';
import { readTarget } from '../../../signal/target.ts';
import { findList } from '../../find.ts';
import { addedAddresses } from '../../imports/added-addresses.ts';
import { fieldFault, type Operation, operation } from '../../operation.ts';

export const MOST_NETWORKS = 10_000;

const count = (description: string) => Type.Integer({ description });

export const ADDRESSES = Type.Array(
  Type.Object({
    action: Type.Enum(['block', 'allow']),
    family: Type.Enum([4, 6]),
    before: count('Addresses of the list; an IPv6 /64 counts as one.'),
    after: count('Addresses of the list afterwards.'),
    added: count('New addresses.'),
    removed: count('Addresses that the list would lose.'),
    widest: Type.Array(Type.String(), { description: 'The broadest new networks, countries and ASNs, at most three.' }),
  }),
  { description: 'The effect on the addresses of the list, by action and family.' },
);
const EXAMPLE = { action: 'block', family: 4, before: 2000, after: 16_779_216, added: 16_777_216, removed: 0, widest: ['60.0.0.0/8'] };

export const ADDRESS_OPERATIONS: readonly Operation[] = [
  operation('countAddresses', 'POST /addresses', 'signal:write', {
    bound: true,
    summary: 'Count the addresses that networks would add to a list',
    description:
      'Sends nothing. A client that adds networks to a list should ask for confirmation if `faults` is not empty: then the networks would add more than half of the addresses or rules of the list. Networks no broader than /24 (IPv4) and /48 (IPv6) never need that, nor does a list without rules, unless more than half of all addresses would be blocked.',
    bodyBytes: 1024 * 1024,
    body: Type.Object({
      networks: Type.Array(Type.String({ maxLength: 50 }), { minItems: 1, maxItems: MOST_NETWORKS }),
      list: textField(200, 'UUID or name; default: the list of the key, or the default list.', { minLength: 1 }),
      action: wordField(['block', 'allow'], 'Default: block.'),
      batch: textField(100, 'A batch of the same file: its rules and later ones do not count as part of the list.'),
    }),
    answer: answerOf('AddedAddresses', {
      addresses: [[EXAMPLE], ADDRESSES],
      faults: [[], Type.Array(Type.String(), { description: 'The reasons for a confirmation.' })],
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
      // Reads the whole list: one at a time per workspace.
      const added = await context.inTurn(
        () => addedAddresses(context, { caller, listId: list.id, batch }, entries),
        `addresses ${workspaceId}`,
      );
      return added ?? { addresses: [], faults: [] };
    },
  }),
];
