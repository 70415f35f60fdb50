/** `weir backup` and `weir restore`: the two files of the embedded engine (docs/deployment.md). */

import type { Command } from 'commander';
import { WeirError } from '../../errors.ts';
import { type Backup, backUp, restore } from '../../runtime/backup.ts';
import type { Config } from '../../settings/settings.ts';
import type { AddCommand } from '../command.ts';
import { noOptions } from '../usage.ts';

const restoreOptions = (c: Command): Command => c.option('--force', 'replace a store and a stream that are there');

export function backupCommands(add: AddCommand): void {
  add('backup <folder>', 'copy the embedded store and stream into a new folder, also beside a running server', noOptions, {
    async run({ config }, [folder]) {
      requireEmbedded(config);
      return { folder, ...(await backUp(config.dataDir, folder)) };
    },
    show: (backup) => `${backup.folder}: ${told(backup)}`,
  });
  add('restore <folder>', 'put a backup into DATA_DIR, while weir is stopped', restoreOptions, {
    async run({ config }, [folder], options) {
      requireEmbedded(config);
      return { folder, ...(await restore(folder, config.dataDir, options.force ?? false)) };
    },
    show: (backup) => `${backup.folder} is restored: ${told(backup)}`,
  });
}

const told = ({ at, files, unlanded }: Backup) =>
  `${files.map(({ name, bytes }) => `${name} (${bytes} bytes)`).join(', ')} of ${at}${unlanded > 0 ? `; ${unlanded} messages land after a restore` : ''}`;

/** Elsewhere the engines' own tools do it. */
function requireEmbedded({ databaseUrl, kafkaBrokers }: Config): void {
  const engine =
    databaseUrl !== undefined ? 'the store is in PostgreSQL' : kafkaBrokers !== undefined ? 'the stream is in Kafka' : undefined;
  if (engine === undefined) return;
  throw new WeirError('REFUSED', `${engine}: back up PostgreSQL with pg_dump, and have Kafka replicate (docs/deployment.md)`);
}
