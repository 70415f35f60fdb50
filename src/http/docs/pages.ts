/** Interactive API documentation. Loaded on first use. */
import { readFileSync } from 'node:fs';
import { ADDRESSES } from '../addresses.ts';
import { AGENT_API } from '../agent/openapi.ts';
import { movedTo, PAGE_HEADERS } from '../answer.ts';
import { BOUNCER_API } from '../bouncers/openapi.ts';
import type { Answered, Call } from '../call.ts';
import { FEED_API } from '../feeds/openapi.ts';
import { type File, fileAnswer, fileOf } from '../files.ts';
import { GROUP_NAMES, GROUPS, type Group } from '../groups.ts';
import { MANAGE_API } from '../manage/openapi.ts';
import { RULES_API } from '../rules/openapi.ts';
import { SIGNAL_API } from '../signals/openapi.ts';
import { type Api, apiDocument } from './openapi.ts';

export const APIS: Readonly<Record<Group, Api>> = {
  signal: SIGNAL_API,
  feed: FEED_API,
  rules: RULES_API,
  agent: AGENT_API,
  bouncer: BOUNCER_API,
  manage: MANAGE_API,
};

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');
const HEADERS = [...PAGE_HEADERS, 'Content-Security-Policy', CONTENT_SECURITY_POLICY, 'Cache-Control', 'public, max-age=0'];

const HTML = 'text/html; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';
const STYLE = 'text/css; charset=utf-8';
const FILES: Readonly<Record<string, string>> = {
  'swagger-ui.css': STYLE,
  'index.css': STYLE,
  'swagger-ui-bundle.js': SCRIPT,
  'favicon-16x16.png': 'image/png',
  'favicon-32x32.png': 'image/png',
};
const INITIALIZER = 'swagger-initializer.js';
const STARTS = `window.onload = () => {
  const here = location.href.split(/[?#]/, 1)[0];
  SwaggerUIBundle({
    url: \`\${here.endsWith('/') ? here : \`\${here}/\`}json\`,
    dom_id: '#swagger-ui',
    presets: [SwaggerUIBundle.presets.apis],
    plugins: [SwaggerUIBundle.plugins.DownloadUrl],
    layout: 'BaseLayout',
    deepLinking: true,
    persistAuthorization: false,
    validatorUrl: null,
  });
};
`;

const pageAt = (files: string) => `<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="UTF-8">
<title>Swagger UI</title>
<link rel="stylesheet" type="text/css" href="${files}/swagger-ui.css">
<link rel="stylesheet" type="text/css" href="${files}/index.css">
<link rel="icon" type="image/png" href="${files}/favicon-32x32.png" sizes="32x32">
<link rel="icon" type="image/png" href="${files}/favicon-16x16.png" sizes="16x16">
</head>
<body>
<div id="swagger-ui"></div>
<script src="${files}/swagger-ui-bundle.js" charset="UTF-8"></script>
<script src="${files}/${INITIALIZER}" charset="UTF-8"></script>
</body>
</html>
`;

/** Serves a path below /docs/, such as `feeds/swagger/json`. */
export function documentPages(baseUrl: string): (call: Call) => Answered {
  const made = new Map<string, File>();
  return (call) => {
    const path = call.params['*']!;
    const [, name = '', rest = ''] = /^(\w+)\/swagger(|\/.*)$/.exec(path) ?? [];
    const group = GROUP_NAMES.find((each) => GROUPS[each].docs === name);
    if (group === undefined) return { status: 404 };
    if (rest === '/static/index.html') return movedTo(`/docs/${name}/swagger/`);
    const file = made.get(path) ?? make(group, rest, baseUrl);
    if (file === undefined) return { status: 404 };
    made.set(path, file);
    return fileAnswer(call, file, HEADERS);
  };
}

function make(group: Group, rest: string, baseUrl: string): File | undefined {
  if (rest === '') return fileOf(HTML, Buffer.from(pageAt(`/docs/${GROUPS[group].docs}/swagger/static`)));
  if (rest === '/') return fileOf(HTML, Buffer.from(pageAt('./static')));
  if (rest === '/json') return fileOf('application/json; charset=utf-8', documentOf(group, baseUrl));
  if (rest === '/yaml') return fileOf('application/x-yaml', documentOf(group, baseUrl));
  const [, name = ''] = /^\/static\/([\w.-]+)$/.exec(rest) ?? [];
  if (name === INITIALIZER) return fileOf(SCRIPT, Buffer.from(STARTS));
  const type = Object.hasOwn(FILES, name) ? FILES[name] : undefined;
  return type === undefined ? undefined : fileOf(type, readFileSync(new URL(import.meta.resolve(`swagger-ui-dist/${name}`))));
}

const documentOf = (group: Group, baseUrl: string): Buffer => Buffer.from(JSON.stringify(apiDocument(APIS[group], ADDRESSES, baseUrl)));
