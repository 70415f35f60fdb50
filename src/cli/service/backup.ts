/** `weir backup` and `weir restore` (docs/deployment.md). */

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
      requireEmbedded(config, 'backup');
      return { folder, ...(await backUp(config.dataDir, folder)) };
    },
    show: (backup) => `${backup.folder}: ${described(backup)}`,
  });
  add('restore <folder>', 'put a backup into DATA_DIR, while weir is stopped', restoreOptions, {
    async run({ config }, [folder], options) {
      requireEmbedded(config, 'restore');
      return { folder, ...(await restore(folder, config.dataDir, options.force ?? false)) };
    },
    show: (backup) => `${backup.folder} is restored: ${described(backup)}`,
  });
}

const described = ({ at, files, unlanded }: Backup) =>
  `${files.map(({ name, bytes }) => `${name} (${bytes} bytes)`).join(', ')} of ${at}${unlanded > 0 ? `; ${unlanded} messages land after a restore` : ''}`;

/** Advice for other engines. */
const INSTEAD = {
  backup: {
    store: 'back up PostgreSQL with pg_dump, and have Kafka replicate',
    stream: 'copy weir.db, weir.db-wal and weir.db-shm while weir is stopped, and have Kafka replicate',
  },
  restore: {
    store: 'put the dump back with pg_restore before weir starts',
    stream: 'put weir.db, weir.db-wal and weir.db-shm back while weir is stopped',
  },
};

function requireEmbedded({ databaseUrl, kafkaBrokers }: Config, work: keyof typeof INSTEAD): void {
  const { store, stream } = INSTEAD[work];
  if (databaseUrl !== undefined) throw new WeirError('REFUSED', `the store is in PostgreSQL: ${store} (docs/deployment.md)`);
  if (kafkaBrokers !== undefined) throw new WeirError('REFUSED', `the stream is in Kafka: ${stream} (docs/deployment.md)`);
}
