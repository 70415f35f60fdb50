import { html } from 'htm/preact';
import { manage } from '../api.js';
import { useLive } from '../data.js';
import { count, counted, dayOf } from '../format.js';
import { Badge } from '../ui/badge.js';
import { Card } from '../ui/card.js';
import { Code } from '../ui/code.js';
import { Facts, Figure, Figures } from '../ui/figures.js';
import { PageHead } from '../ui/page-head.js';
import { Loaded } from '../ui/states.js';

/** Age at which geo data is reported as old, days. */
const OLD = 90;

/** @param {PageProps} _props */
export function Page(_props) {
  const live = useLive(manage('/geo'), { every: 30_000 });
  return html`
    <${PageHead} title="Geo data">Address ranges of countries and ASNs. Feeds use them for country and ASN rules.<//>
    <${Loaded} live=${live}>${(/** @type {{ version: string, country: GeoKind, asn: GeoKind }} */ { version, country, asn }) => html`
      <div class="cards">
        <${KindCard} title="Countries" many="countries" kind=${country} />
        <${KindCard} title="ASNs" many="ASNs" kind=${asn} />
      </div>
      <${Card} title="Update" note="Run these commands on the server. weir uses new data within seconds.">
        <${Code} text=${'weir geo update\nweir geo status'} label="Commands" />
        <p class="small soft"><code>GEO_UPDATE_HOURS</code> updates automatically. Your own files take precedence: <code>GEO_COUNTRY_FILE</code>, <code>GEO_ASN_FILE</code>. Version in use: <span class="mono text">${version}</span></p>
      <//>
    `}<//>
  `;
}

const ORIGINS = { packaged: 'comes with weir', downloaded: 'downloaded by weir', operator: 'your own file' };

/** @param {{ title: string, many: string, kind: GeoKind }} props */
function KindCard({ title, many, kind }) {
  const isOld = kind.age_days > OLD;
  const badge = html`<${Badge} kind=${isOld ? 'warn' : 'good'}>${counted(kind.age_days, 'day')} old<//>`;
  return html`
    <${Card} title=${title} actions=${badge}
      note=${isOld ? `Older than ${OLD} days. Ranges with a new owner are wrong until you update.` : undefined}>
      <${Figures}>
        <${Figure} label=${`${many[0].toUpperCase()}${many.slice(1)} with ranges`} value=${count(kind.keys)} />
        <${Figure} label="IPv4 ranges" value=${count(kind.ranges_v4)} />
        <${Figure} label="IPv6 ranges" value=${count(kind.ranges_v6)} />
      <//>
      <${Facts} facts=${[
        ['Source', ORIGINS[kind.source]],
        ['Format', kind.format],
        ['Date', dayOf(kind.date)],
        ['Attribution', kind.attribution],
      ]} />
    <//>
  `;
}
