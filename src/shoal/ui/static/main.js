// The frame around the steps: header, steps, undo, and which step is shown.

import {html, render} from './vendor/htm-preact.js';
import * as api from './api.js';
import {arrive, fail, go, onChange, redo, set, state, STEPS, undo} from './store.js';
import {Button, Icon, Notice, ended, sentence, Work} from './parts.js';
import {TableStep} from './steps/table.js';
import {ColumnsStep} from './steps/columns.js';
import {PromiseStep} from './steps/promise.js';
import {CandidatesStep} from './steps/candidates.js';
import {InspectStep} from './steps/inspect.js';
import {ReleaseStep} from './steps/release.js';

const TITLES = {table: 'Table', columns: 'Columns', promise: 'Promise', candidates: 'Candidates', inspect: 'Inspect', release: 'Release'};
const VIEWS = {table: TableStep, columns: ColumnsStep, promise: PromiseStep, candidates: CandidatesStep, inspect: InspectStep, release: ReleaseStep};

function reachable(step) {
  if (step === 'table') return true;
  if (!state.doc) return false;
  if (step === 'inspect' || step === 'release') return state.doc.chosen !== null;
  return true;
}

function Steps() {
  const at = STEPS.indexOf(state.step);
  return html`<nav class="steps" aria-label="Steps"><ol>${STEPS.map((step, i) => html`<li key=${step}>
    <button type="button" id=${`step-${step}`} class=${i < at ? 'past' : ''} aria-current=${i === at ? 'step' : null}
      disabled=${!reachable(step)} onClick=${() => go(step)}>
      <b>${i < at ? html`<${Icon} name="check" />` : i + 1}</b><span>${TITLES[step]}</span></button></li>`)}</ol></nav>`;
}

function Header() {
  const {space, past, future} = state;
  const last = past[past.length - 1], next = future[future.length - 1];
  return html`<header class="top"><a class="mark" href="#/" aria-label="shoal: start page"><img src="/static/mark.svg" alt="" width="28" height="28" /><b>shoal</b></a>
    ${space && html`<span class="file"><${Icon} name="file" /><span>${space.name}</span></span>`}
    ${state.doc && html`<div class="turns">
      <button type="button" id="undo" class="button quiet" disabled=${!last} onClick=${undo} title=${last ? `Undo: ${last.what}` : 'Nothing to undo'} aria-label=${last ? `Undo: ${last.what}` : 'Undo'}><${Icon} name="undo" /><span>Undo</span></button>
      <button type="button" id="redo" class="button quiet" disabled=${!next} onClick=${redo} title=${next ? `Redo: ${next.what}` : 'Nothing to redo'} aria-label=${next ? `Redo: ${next.what}` : 'Redo'}><${Icon} name="redo" /><span>Redo</span></button></div>`}
  </header>`;
}

function Locked() {
  return html`<main id="main" class="alone"><img src="/static/mark.svg" alt="" width="48" height="48" />
    <h1 tabindex="-1">Open the link from the terminal</h1>
    <p>This page works only with the link that <code>shoal ui</code> showed when it started. The link holds a secret, so that nobody else on this machine, and no other page in this browser, can see your table.</p>
    <p>If you have closed the program, start it again: <code>shoal ui</code></p></main>`;
}

function Opening() {
  const job = state.jobs.open;
  if (!job || job.status === 'running') return html`<div class="opening"><h1 tabindex="-1">${state.space.name}</h1><${Work} id="open" title="Opening the table" job=${job || {}} /></div>`;
  const leave = () => { api.send('DELETE', `/api/spaces/${state.space.id}`).catch(fail); go('table', null); };
  return html`<div class="opening"><h1 tabindex="-1">${state.space.name}</h1>${ended(job, 'Opening the table')}<p><${Button} kind="main" id="other-file" onClick=${leave}>Choose another table<//></p></div>`;
}

function App() {
  if (state.phase === 'locked') return html`<${Locked} />`;
  if (state.phase === 'failed') return html`<main id="main" class="alone"><${Notice} kind="bad" title=${sentence(state.problem.message)}>${sentence(state.problem.hint)}<//></main>`;
  if (state.phase === 'starting') return html`<p class="starting">Starting …</p>`;
  const opening = state.space && !state.opened;
  const View = VIEWS[state.step];
  return html`<${Header} /><div class="frame">
    <${Steps} />
    <main id="main" key=${`${state.space ? state.space.id : ''}-${state.step}`}>
      ${state.problem && html`<${Notice} kind="bad" title=${sentence(state.problem.message)}>${state.problem.hint && sentence(state.problem.hint)}
        <button type="button" class="close" aria-label="Dismiss" onClick=${() => set({problem: null})}><${Icon} name="cross" /></button><//>`}
      ${opening ? html`<${Opening} />` : html`<${View} />`}
    </main></div>`;
}

function keys(event) {
  const typing = /^(INPUT|TEXTAREA)$/.test(event.target.tagName) && !/^(checkbox|radio|range)$/.test(event.target.type);
  if (!(event.ctrlKey || event.metaKey) || event.altKey || typing || !state.doc) return;
  const key = event.key.toLowerCase();
  if (key === 'z' && !event.shiftKey) { event.preventDefault(); undo(); }
  if (key === 'y' || (key === 'z' && event.shiftKey)) { event.preventDefault(); redo(); }
}

const draw = () => render(html`<${App} />`, document.getElementById('app'));

async function begin() {
  const known = await api.enter();
  if (!known) { set({phase: 'locked'}); return; }
  try {
    set({about: await api.get('/api/about')});
    await arrive();
    if (state.phase === 'starting') set({phase: 'ready'});
  } catch (error) {
    if (error.status === 401) set({phase: 'locked'});
    else { set({phase: state.about ? 'ready' : 'failed', problem: {message: error.message, hint: error.hint || ''}}); }
  }
}

onChange(draw);
document.addEventListener('keydown', keys);
window.addEventListener('hashchange', () => {
  if (/^#(token|entry)=/.test(location.hash)) { location.reload(); return; }
  arrive().catch(fail);
});
document.getElementById('app').textContent = '';
begin();
