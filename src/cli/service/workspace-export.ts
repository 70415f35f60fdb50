/** `weir workspace export --settings` (SPEC D28.1). */
import { existsSync, writeFileSync } from 'node:fs';
import type { Command } from 'commander';
import { WeirError } from '../../errors.ts';
import { exportFile } from '../../manage/file/export.ts';
import type { Store } from '../../ports/store.ts';
import type { AddCommand } from '../command.ts';
import { printable, workspaceIn, writeLine } from '../context.ts';
import { oneOf } from '../usage.ts';
import { fileContext } from './apply.ts';
import { settingsText } from './settings-file.ts';

const FORMATS = ['yaml', 'json'] as const;

const exportOptions = (c: Command): Command =>
  c
    .option('--settings', 'the settings: lists, feeds, sources, keys, guard rails; weir export includes the rules')
    .option('--format <format>', FORMATS.join(' or '), oneOf('--format', FORMATS), 'yaml');

export function workspaceExportCommand(add: AddCommand): void {
  add(
    'workspace export <workspace> [file]',
    'write the settings of a workspace as a file for weir apply, or to standard output',
    exportOptions,
    {
      async run(
        context,
        [name, path],
        options: { readonly settings?: boolean; readonly format: (typeof FORMATS)[number]; readonly json?: boolean },
      ) {
        if (!options.settings) throw new WeirError('USAGE', 'give --settings for the settings; weir export includes the rules');
        if (path !== undefined && existsSync(path)) throw new WeirError('USAGE', `the file "${path}" exists already`);
        const store = await context.reads();
        const { id: workspace } = await workspaceIn(context, store, name);
        const state = (await store.workspaceState(workspace))!;
        const about = { ...fileContext(store as Store, workspace, context), prune: true, now: await store.ping() };
        const { file, leftOut } = exportFile(state, about);
        for (const each of leftOut) await writeLine(context.stderr, `weir: left out: ${printable(each)}, whose name is not unique`);
        const text = await settingsText(file, options.format);
        if (path !== undefined) writeFileSync(path, `${text}\n`, { flag: 'wx', mode: 0o600 });
        return options.json ? file : path === undefined ? { text } : { text: `${path} is written` };
      },
      show: (written) => String((written as { readonly text?: string }).text ?? ''),
    },
  );
}
