const FIELDS = ['value', 'action', 'expires_at', 'reason', 'labels', 'config', 'rule_ref', 'name'];
export const CSV_HEAD = FIELDS.join(',');

/** @param {Rule} rule @returns {Record<string, unknown>} */
const fieldsOf = ({ target, ...rule }) => ({ value: target, ...rule });

/** @param {Rule} rule */
export const csvLine = (rule) => {
  const fields = fieldsOf(rule);
  return FIELDS.map((field) => csvCell(fields[field])).join(',');
};

/** @param {Rule} rule */
export const jsonLine = (rule) => {
  const fields = fieldsOf(rule);
  return JSON.stringify(Object.fromEntries(FIELDS.map((field) => [field, fields[field]]).filter(([, value]) => value !== null)));
};

/** @param {unknown} value */
function csvCell(value) {
  const text = value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
  return /^\s|[",\r\n]|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
