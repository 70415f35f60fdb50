import type { Command } from 'commander';
import { MOST_PROTECTED, PROTECT_RULE, protectedWord } from '../../account/guard-rails.ts';
import { ROLE_NAMES } from '../../account/role.ts';
import { WeirError } from '../../errors.ts';
import { workspaceJson } from '../../manage/operations/workspace.ts';
import type { Fields } from '../client/client.ts';
import type { AddCommand } from '../command.ts';
import { table } from '../context.ts';
import { type AnyRow, row } from '../rows/row.ts';
import { noOptions, pick, readName } from '../usage.ts';
import { type Changed, edited, subtractionText } from './settings.ts';

const workspaceCreateOptions = (c: Command): Command => c.requiredOption('--org <org>', 'id or name of its organization');

export function workspaceCommands(add: AddCommand): void {
  add('workspace create <name>', 'make a workspace with its default list', workspaceCreateOptions, {
    async run(context, [name], options) {
      const store = await context.store();
      const organization = pick(await store.organizations(), options.org, 'organization');
      return workspaceJson(await store.createWorkspace(organization.id, readName(name), context.author));
    },
    show: (workspace) => `workspace ${workspace.name} ${workspace.id}`,
  });
  add('workspace ls', 'list workspaces', noOptions, {
    async run(context) {
      const store = await context.reads();
      const organizations = new Map((await store.organizations()).map(({ id, name }) => [id, name]));
      const named = (id: string) => ({ organization: organizations.get(id) ?? null });
      return (await store.workspaces()).map((each) => ({ ...workspaceJson(each), ...named(each.organizationId) }));
    },
    show: (rows) =>
      table(['ID', 'NAME', 'ORGANIZATION', 'PROTECT', 'MIN V4', 'MIN V6', 'SUBTRACT', 'PEOPLE'], rows, (w) => [
        w.id,
        w.name,
        w.organization ?? w.organization_id,
        w.protect.join(',') || '-',
        w.min_prefix_v4,
        w.min_prefix_v6,
        w.subtract_allow,
        w.people.join(' ') || null,
      ]),
  });
}

export const WORKSPACE_ROWS: readonly AnyRow[] = [
  row<Changed>({
    words: 'workspace set <workspace>',
    operation: 'changeWorkspace',
    summary: 'change the settings of a workspace',
    omit: ['protect'],
    options: {
      people: {
        help: `what the members of a group may do, in place of all rows before: ${ROLE_NAMES.join(', ')}, such as operator=soc or operator@provider=soc; none removes all`,
        unset: 'none',
      },
    },
    flags: {
      '--protect <networks>':
        'all networks that no block may reach, in place of those before: separated by commas, also private, special, self, peers; warn: before one only reports blocks; none removes all',
      '--protect-add <networks>': 'networks or names to protect besides those before',
      '--protect-remove <networks>': 'networks or names to protect no longer',
    },
    given: ({ options }) => ({ protect: wordsOf('protect', options) }),
    change: ({ protect }: { readonly protect: readonly string[] }, { options }) => protectChange(protect, options),
    run: (call) => edited(call, 'changeWorkspace', undefined),
    show: (workspace) =>
      `workspace ${workspace.name} ${workspace.id} is changed${subtractionText(workspace)}; signals follow it within 2 seconds, feeds with their next read of the store`,
  }),
];

type ProtectOptions = Readonly<Partial<Record<'protect' | 'protectAdd' | 'protectRemove', string>>>;

/** In their canonical form; undefined: the option is absent. */
function wordsOf(name: keyof ProtectOptions, { [name]: text }: ProtectOptions): string[] | undefined {
  if (text === undefined) return undefined;
  if (name === 'protect' && (text === '' || text === 'none')) return [];
  const option = `--${name.replace(/[AR]/, (letter) => `-${letter.toLowerCase()}`)}`;
  const words = text.split(',').map((part) => protectedWord(part.trim()));
  const none = name === 'protect' ? 'none or ' : '';
  if (words.includes(undefined)) throw new WeirError('USAGE', `${option} must be ${none}${PROTECT_RULE}, not "${text}"`);
  if (words.length > MOST_PROTECTED) throw new WeirError('USAGE', `${option} takes at most ${MOST_PROTECTED} networks`);
  return [...new Set(words as string[])];
}

function protectChange(before: readonly string[], options: ProtectOptions): Fields {
  const [add, remove] = [wordsOf('protectAdd', options), wordsOf('protectRemove', options)];
  if (add === undefined && remove === undefined) return {};
  if (options.protect !== undefined) throw new WeirError('USAGE', 'give --protect, or --protect-add and --protect-remove');
  const unknown = remove?.find((word) => !before.includes(word));
  if (unknown !== undefined)
    throw new WeirError('USAGE', `--protect-remove: ${unknown} is not in the list: ${before.join(', ') || 'none'}`);
  return { protect: [...new Set([...before, ...(add ?? [])])].filter((word) => !remove?.includes(word)) };
}
