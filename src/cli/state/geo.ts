import { hasCode, WeirError } from '../../errors.ts';
import { acceptGeo } from '../../geo/accept.ts';
import type { GeoData } from '../../geo/data.ts';
import { GEO_KINDS } from '../../geo/kind.ts';
import { loadGeo } from '../../geo/load.ts';
import type { GeoFiles } from '../../geo/sources.ts';
import { type GeoKindStatus, geoStatus } from '../../geo/status.ts';
import { updatedKinds } from '../../geo/update.ts';
import { type KindUpdate, readUpdateState, type UpdateState } from '../../geo/update-state.ts';
import { geoFiles } from '../../runtime/geo.ts';
import { hasFailed, updateGeoData } from '../../runtime/geo-updates.ts';
import type { AddCommand } from '../command.ts';

export function geoCommands(add: AddCommand): void {
  add('geo status', 'show which country and ASN data are in use, how old they are, and what the last update did', (c) => c, {
    async run({ config }) {
      const files = geoFiles(config);
      const status = geoStatus(await loadGeo(files, config.dataDir), Date.now());
      const last = await readUpdateState(files.downloads);
      return { ...status, update: last === undefined ? null : updateJson(last, files) };
    },
    show: ({ country, asn, update }) =>
      [...lines('country', country), ...lines('asn', asn), ...(update === null ? [] : updateLines(update))].join('\n'),
  });
  add('geo update', 'download newer country and ASN data, which servers on this DATA_DIR then take', (c) => c, {
    async run(context) {
      const { config } = context;
      const files = geoFiles(config);
      const state = await updateGeoData(config, await loadUsable(files, config.dataDir));
      if (state === undefined) throw new WeirError('REFUSED', 'another process is updating the geo data');
      if (hasFailed(state)) context.exitCode = 1;
      return updateJson(state, files);
    },
    show: (update) => updateLines(update).join('\n'),
  });
  add('geo accept', 'let running servers take the geo files as they are now, although much smaller than those in use', (c) => c, {
    async run({ config }) {
      const accepted = await acceptGeo(geoFiles(config), config.dataDir);
      if (Object.keys(accepted).length === 0) {
        throw new WeirError('USAGE', 'neither GEO_COUNTRY_FILE nor GEO_ASN_FILE is set, and nothing was downloaded');
      }
      return accepted;
    },
    show: (accepted) => `accepted: ${Object.values(accepted).flat().join(', ')}; servers on this DATA_DIR take them within seconds`,
  });
}

/** Falls back to the packaged data if a downloaded file is broken: an update fixes it. */
async function loadUsable(files: GeoFiles, cacheDir: string): Promise<GeoData> {
  try {
    return await loadGeo(files, cacheDir);
  } catch (error) {
    if (!hasCode(error, 'GEO_FILE')) throw error;
    return loadGeo({ country: files.country, asn: files.asn }, cacheDir);
  }
}

/** null: the update did not include this kind. */
interface UpdateJson {
  readonly tried_at: string;
  readonly country: Pick<KindUpdate, 'result' | 'text'> | null;
  readonly asn: Pick<KindUpdate, 'result' | 'text'> | null;
}

function updateJson({ triedAt, kinds }: UpdateState, files: GeoFiles): UpdateJson {
  const [country, asn] = GEO_KINDS.map((kind) => {
    const update = updatedKinds(files).includes(kind) ? kinds[kind] : undefined;
    return update === undefined ? null : { result: update.result, text: update.text };
  });
  return { tried_at: new Date(triedAt).toISOString(), country, asn };
}

const RESULTS: Readonly<Record<KindUpdate['result'], string>> = {
  new: 'new data are in place',
  unchanged: 'as before',
  held: 'on hold',
  failed: 'failed, the data in use stay',
};

function updateLines({ tried_at, ...kinds }: UpdateJson): string[] {
  const results = GEO_KINDS.flatMap((kind) => {
    const update = kinds[kind];
    return update === null ? [] : [`  ${kind}: ${[RESULTS[update.result], update.text].filter(Boolean).join(': ')}`];
  });
  return [`update of ${tried_at}`, ...results];
}

function lines(kind: string, status: GeoKindStatus): string[] {
  const { source, format, date, age_days, keys, ranges_v4, ranges_v6, rows, skipped_rows, attribution } = status;
  return [
    `${kind}: ${source} (${format}), data of ${date.slice(0, 10)}, ${age_days} days old`,
    `  ${keys} with ranges, ${ranges_v4} IPv4 and ${ranges_v6} IPv6 ranges from ${rows} rows, ${skipped_rows} rows skipped`,
    ...(attribution === null ? [] : [`  ${attribution}`]),
  ];
}
