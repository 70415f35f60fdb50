import { html } from 'htm/preact';

/**
 * The first column names the row; on a phone each row is a block, or with `lines` two lines that begin with the state.
 * @param {{ lines?: boolean, label: string, columns: readonly Column<any>[], rows: readonly any[], keyOf: (row: any) => string | number }} props
 */
export const Table = ({ lines = false, label, columns, rows, keyOf }) => html`
  <div class="table-box" role="region" aria-label=${label} tabindex="0">
    <table class=${`table stacks ${lines ? 'lines' : ''}`}>
      <caption class="hidden-visually">${label}</caption>
      <thead><tr>${columns.map((column) => html`<th key=${column.label} scope="col" class=${column.number ? 'number' : undefined}>${column.label}</th>`)}</tr></thead>
      <tbody>
        ${rows.map(
          (row) => html`
            <tr key=${keyOf(row)}>
              ${columns.map((column, i) => {
                const shared = { key: column.label, 'data-label': column.label, class: column.number ? 'number' : undefined };
                return i === 0
                  ? html`<th scope="row" ...${shared}>${column.cell(row)}</th>`
                  : html`<td ...${shared}>${column.cell(row)}</td>`;
              })}
            </tr>
          `,
        )}
      </tbody>
    </table>
  </div>
`;
