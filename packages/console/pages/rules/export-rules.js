import { html } from 'htm/preact';
import { useState } from 'preact/hooks';
import { ask, manage } from '../../api.js';
import { count } from '../../format.js';
import { Button } from '../../ui/button.js';
import { save } from '../../ui/save.js';
import { toast } from '../../ui/toast.js';
import { CSV_HEAD, csvLine, jsonLine } from './export-lines.js';

/** All rules stay in memory until the file is written. */
const MOST = 200_000;
const PAGE = 1000;

const FORMS = [
  { label: 'CSV', name: 'rules.csv', type: 'text/csv', head: `${CSV_HEAD}\n`, line: csvLine },
  { label: 'JSON lines', name: 'rules.ndjson', type: 'application/x-ndjson', head: '', line: jsonLine },
];

/** @param {{ conditions: Record<string, any> }} props */
export function ExportRules({ conditions }) {
  const [read, setRead] = useState(/** @type {number | undefined} */ (undefined));
  const write = async (/** @type {typeof FORMS[number]} */ form) => {
    setRead(0);
    try {
      const parts = [form.head];
      let rules = 0;
      let after;
      do {
        const { body } = await ask(manage('/rules', { ...conditions, limit: PAGE, after }));
        parts.push(body.rules.map((/** @type {Rule} */ rule) => `${form.line(rule)}\n`).join(''));
        rules += body.rules.length;
        after = body.next ?? undefined;
        setRead(rules);
      } while (after !== undefined && rules < MOST);
      if (after !== undefined) toast(`The file has only the first ${count(rules)} rules. Filter for fewer.`, 'bad');
      save(form.name, new Blob(parts, { type: form.type }));
    } catch (error) {
      toast(`Export failed: ${/** @type {Error} */ (error).message}`, 'bad');
    }
    setRead(undefined);
  };
  if (read !== undefined) return html`<span class="small soft" role="status">${count(read)} rules read…</span>`;
  return FORMS.map((form) => html`<${Button} key=${form.label} tiny kind="quiet" onClick=${() => write(form)}>Export ${form.label}<//>`);
}
