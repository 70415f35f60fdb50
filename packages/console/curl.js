/** The command line that does what a form does. */

/** Where the reader of the command keeps the key. */
const KEY = '$WEIR_KEY';

/**
 * A request as a line for curl.
 * @param {'GET' | 'POST' | 'PATCH' | 'DELETE'} method
 * @param {string} address Of this service, as of `manage`.
 * @param {object} [body]
 */
export function curlOf(method, address, body) {
  const parts = [
    `curl -sS${method === 'GET' ? '' : ` -X ${method}`} ${quoted(location.origin + address)}`,
    `-H "Authorization: Bearer ${KEY}"`,
    // What is edited is any state: who types the command has seen the newest.
    ...(method === 'PATCH' ? ["-H 'If-Match: *'"] : []),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted(JSON.stringify(body))}`]),
  ];
  return parts.join(' \\\n  ');
}

/** Sends the file of a name. @param {string} address @param {string} file */
export const curlFile = (address, file) =>
  [
    `curl -sS -X POST ${quoted(location.origin + address)}`,
    `-H "Authorization: Bearer ${KEY}"`,
    `--data-binary ${quoted(`@${file}`)}`,
  ].join(' \\\n  ');

/** One word of a shell. @param {string} text */
const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;
