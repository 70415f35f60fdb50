import type { listJson } from '../../manage/operations/lists.ts';
import { type AnyRow, row } from '../rows/row.ts';
import { type Changed, deletionRows, edited, LIST_COLUMNS, subtractionText, targetText, withoutState } from './settings.ts';

type List = ReturnType<typeof listJson>;

export const LIST_ROWS: readonly AnyRow[] = [
  row<Changed>({
    words: 'list create <name>',
    operation: 'createList',
    summary: 'make a list',
    json: withoutState,
    show: (list) => `list ${list.name} ${list.id}${targetText({ ...list })}`,
  }),
  row<Changed>({
    words: 'list set <list>',
    operation: 'changeList',
    summary: 'change the stored defaults of a list; an empty value unsets one',
    run: (call) => edited(call, 'changeList', 'list'),
    show: (list) => `list ${list.name} ${list.id} is changed${subtractionText(list)}${targetText({ ...list })}`,
  }),
  row<List[], (List & { readonly rules: number })[]>({
    words: 'list ls',
    operation: 'listLists',
    summary: 'list the lists of a workspace',
    async json(lists, { client }) {
      const found = [];
      for (const list of lists)
        found.push({ ...withoutState(list), rules: (await client.call<{ rules: number }>('countRules', { list: list.id })).rules });
      return found;
    },
    columns: {
      ID: 'id',
      NAME: 'name',
      RULES: 'rules',
      DEFAULT: (list) => (list.default ? 'yes' : 'no'),
      SOURCE: (list) => (list.source_id === null ? 'no' : 'yes'),
      ...(LIST_COLUMNS as Record<string, never>),
    },
  }),
  ...deletionRows('list', 'delete a list with its rules; keys bound to it are revoked'),
];
