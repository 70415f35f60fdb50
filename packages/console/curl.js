const KEY = '$WEIR_KEY';

/** @param {'GET' | 'POST' | 'PATCH' | 'DELETE'} method @param {string} address Of this service, as of `manage`. @param {object} [body] */
export function curlOf(method, address, body) {
  const parts = [
    `curl -sS${method === 'GET' ? '' : ` -X ${method}`} ${quoted(location.origin + address)}`,
    `-H "Authorization: Bearer ${KEY}"`,
    // The command overwrites any state.
    ...(method === 'PATCH' ? ["-H 'If-Match: *'"] : []),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
  ];
  return parts.join(' \\\n  ');
}

/** @param {string} address @param {string} file */
export const curlFile = (address, file) =>
  [
    `curl -sS -X POST ${quoted(location.origin + address)}`,
    `-H "Authorization: Bearer ${KEY}"`,
    `--data-binary ${quoted(`@${file}`)}`,
  ].join(' \\\n  ');

/** @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
