import { html } from 'htm/preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { manage } from './api.js';
import { useSideCounts } from './attention.js';
import { useLive, useWork } from './data.js';
import { count, dateTime, sentence } from './format.js';
import { PAGES, pageOf } from './pages.js';
import { helpAt, link, usePlace } from './router.js';
import { Search } from './search.js';
import { may, signOut, switchWorkspace } from './session.js';
import { currentTheme, toggleTheme } from './theme.js';
import { Icon } from './ui/icon.js';
import { later } from './ui/later.js';
import { Empty, Loading, Notice } from './ui/states.js';

const BRAND = /** @type {HTMLLinkElement} */ (document.querySelector('link[rel=icon]')).href;

/** @param {{ session: Session }} props */
export function Shell({ session }) {
  const place = usePlace();
  const [isMenuOpen, setMenuOpen] = useState(false);
  const { value: caller } = useLive(manage('/whoami'), { every: 300_000 });
  const found = pageOf(place);
  const main = useRef(/** @type {HTMLElement | null} */ (null));
  const lastPath = useRef(place.path);

  useEffect(() => {
    setMenuOpen(false);
    document.title = found === undefined ? 'weir' : `${found.page.title} · weir`;
    // Screen readers announce the new page and Tab continues in it; on the first page the skip link comes first.
    if (lastPath.current !== place.path) main.current?.focus();
    lastPath.current = place.path;
  }, [place.path]);

  useEffect(() => {
    if (!isMenuOpen) return;
    const find = (selector) => /** @type {HTMLElement | null} */ (document.querySelector(selector));
    find('.side a')?.focus();
    const onKey = (event) => {
      if (event.key !== 'Escape') return;
      setMenuOpen(false);
      find('.menu-button')?.focus();
    };
    addEventListener('keydown', onKey);
    return () => removeEventListener('keydown', onKey);
  }, [isMenuOpen]);

  const closeMenu = (event) => {
    if (isMenuOpen && !(/** @type {Element} */ (event.target).closest('.side, .menu-button'))) setMenuOpen(false);
  };

  return html`
    <a class="skip" href="#main" onClick=${(event) => {
      event.preventDefault();
      main.current?.focus();
    }}>Skip to content</a>
    <div class="shell" data-menu=${isMenuOpen ? 'open' : 'closed'} onClick=${closeMenu}>
      <${Side} session=${session} path=${found?.page.path} workspace=${caller?.workspace.name} />
      <header class="bar">
        <button class="button quiet icon menu-button" aria-label="Menu" aria-expanded=${isMenuOpen} onClick=${() => setMenuOpen(!isMenuOpen)}>
          <${Icon} name="menu" />
        </button>
        <${Search} place=${place} session=${session} />
        <div class="bar-end">${found !== undefined && html`<${Help} page=${found.page} />`}<${Account} session=${session} workspace=${caller?.workspace.name} /></div>
      </header>
      <main class="page" id="main" ref=${main} tabindex="-1">
        <${Trouble} />
        ${
          found === undefined || !may(session, found.page.permission)
            ? html`<${Empty} icon="search" title=${found === undefined ? 'Page not found' : 'Your role cannot open this page'}><p><a href=${link('/')}>Go to the overview</a></p><//>`
            : html`<${PageFrame} key=${found.page.path} page=${found.page} place=${found.place} session=${session} />`
        }
      </main>
    </div>
  `;
}

/** @param {{ page: PageRow }} props */
const Help = ({ page: { title, help } }) => html`
  <a class="button quiet icon" href=${helpAt(help)} target="_blank" rel="noopener" aria-label=${`Help: ${title}`} title=${`Help: ${title}`}><${Icon} name="help" /></a>
`;

/** One banner for an unavailable service; pages keep their last data. */
function Trouble() {
  const [trouble, setTrouble] = useState(/** @type {{ text: string, since: number } | undefined} */ (undefined));
  useEffect(() => {
    const onTrouble = (/** @type {any} */ { detail }) => setTrouble(detail);
    addEventListener('weir-trouble', onTrouble);
    return () => removeEventListener('weir-trouble', onTrouble);
  }, []);
  return (
    trouble &&
    html`<${Notice} kind="bad">${sentence(trouble.text)} Showing data from ${dateTime(trouble.since)}. Retrying every few seconds.<//>`
  );
}

/** @param {{ session: Session, path: string | undefined, workspace: string | undefined }} props */
function Side({ session, path, workspace }) {
  const counts = useSideCounts();
  const offered = PAGES.filter(({ permission }) => may(session, permission));
  return html`
    <nav class="side" aria-label="Pages">
      <a class="brand" href=${link('/')}><img src=${BRAND} alt="" width="26" height="26" />weir</a>
      ${[...Map.groupBy(offered, ({ group }) => group)].map(
        ([group, pages]) => html`
          <div class="side-group" key=${group}>
            ${group !== '' && html`<h2>${group}</h2>`}
            <ul>
              ${pages.map(
                (page) => html`
                  <li key=${page.path}>
                    <a href=${link(page.path)} aria-current=${page.path === path ? 'page' : undefined}><${Icon} name=${page.icon} />${page.title}<${SideCount} ...${counts[page.path]} /></a>
                  </li>
                `,
              )}
            </ul>
          </div>
        `,
      )}
      <${Where} session=${session} workspace=${workspace} />
    </nav>
  `;
}

/** @param {{ count?: number, text?: string }} props */
const SideCount = ({ count: shown = 0, text }) =>
  shown > 0 && html`<span class="side-count" title=${`${count(shown)} ${text}`} data-count=${shown}></span>`;

/** @param {{ session: Session, workspace: string | undefined }} props */
function Account({ session, workspace }) {
  const [theme, setTheme] = useState(currentTheme);
  const { busy, run } = useWork();
  useEffect(() => {
    const onTheme = () => setTheme(currentTheme());
    addEventListener('weir-theme', onTheme);
    return () => removeEventListener('weir-theme', onTheme);
  }, []);
  const other = theme === 'dark' ? 'light' : 'dark';
  return html`
    <div class="who"><bdi>${session.actor}</bdi><bdi class="small soft">${workspace ?? '…'}</bdi></div>
    <button class="button quiet icon" aria-label=${`Use the ${other} theme`} title=${`Use the ${other} theme`} onClick=${toggleTheme}>
      <${Icon} name=${other === 'dark' ? 'moon' : 'sun'} />
    </button>
    <button class="button quiet icon" aria-label="Sign out" title="Sign out" disabled=${busy} onClick=${() => run(signOut)}><${Icon} name="out" /></button>
  `;
}

/** @param {{ session: Session, workspace: string | undefined }} props */
const Where = ({ session: { workspaces, workspace_id: current }, workspace }) =>
  workspaces.length < 2
    ? html`<p class="side-foot">Workspace <bdi>${workspace ?? '…'}</bdi></p>`
    : html`
      <div class="side-foot">
        <select class="input" aria-label="Workspace" onChange=${(event) => switchWorkspace(event.target.value)}>
          ${workspaces.map(({ id, name, role }) => html`<option key=${id} value=${id} selected=${id === current}>${name} (${role})</option>`)}
        </select>
      </div>
    `;

/** @param {{ page: PageRow, place: Place, session: Session }} props */
function PageFrame({ page, place, session }) {
  const Page = pageParts.get(page) ?? later(page.load, 'Page', html`<${Loading} />`);
  pageParts.set(page, Page);
  return html`<${Page} session=${session} place=${place} />`;
}
/** @type {Map<PageRow, any>} */
const pageParts = new Map();
