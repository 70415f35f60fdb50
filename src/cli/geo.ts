import { WeirError } from '../errors.ts';
import { acceptGeo } from '../geo/accept.ts';
import { loadGeo } from '../geo/load.ts';
import { type GeoKindStatus, geoStatus } from '../geo/status.ts';
import type { AddCommand } from './command.ts';

export function geoCommands(add: AddCommand): void {
  add('geo status', 'show which country and ASN data are in use and how old they are', (c) => c, {
    async run({ config }) {
      return geoStatus(await loadGeo({ country: config.geoCountryFile, asn: config.geoAsnFile }, config.dataDir), Date.now());
    },
    show: ({ country, asn }) => [...lines('country', country), ...lines('asn', asn)].join('\n'),
  });
  add('geo accept', 'let running servers take the geo files as they are now, although much smaller than those in use', (c) => c, {
    async run({ config }) {
      const accepted = await acceptGeo({ country: config.geoCountryFile, asn: config.geoAsnFile }, config.dataDir);
      if (Object.keys(accepted).length === 0) throw new WeirError('USAGE', 'neither GEO_COUNTRY_FILE nor GEO_ASN_FILE is set');
      return accepted;
    },
    show: (accepted) => `accepted: ${Object.values(accepted).flat().join(', ')}; servers on this DATA_DIR take them within seconds`,
  });
}

function lines(kind: string, status: GeoKindStatus): string[] {
  const { source, format, date, age_days, keys, ranges_v4, ranges_v6, rows, skipped_rows, attribution } = status;
  return [
    `${kind}: ${source} (${format}), data of ${date.slice(0, 10)}, ${age_days} days old`,
    `  ${keys} with ranges, ${ranges_v4} IPv4 and ${ranges_v6} IPv6 ranges from ${rows} rows, ${skipped_rows} rows skipped`,
    ...(attribution === null ? [] : [`  ${attribution}`]),
  ];
}
