// What the page knows, what has been decided, and how to take it back.

import * as api from './api.js';

export const state = {
  phase: 'starting', // 'locked' without a valid link, 'ready' with one
  about: null,       // forms, from the registry
  spaces: [],        // tables that are open
  space: null,       // the one that is shown
  opened: null,      // its columns, once it has been read
  doc: null,         // the decisions
  past: [], future: [],
  jobs: {},          // id -> last state heard
  step: 'table',
  problem: null,     // something the whole page should know
};

let draw = () => {};
export const onChange = (listener) => { draw = listener; };
export function set(change) { Object.assign(state, change); draw(); }

let saying;
export function say(text) {
  const place = document.getElementById('say');
  clearTimeout(saying);
  place.textContent = '';
  saying = setTimeout(() => { place.textContent = text; }, 60);
}

export function fail(error) {
  if (error.name === 'AbortError') return;
  if (error.status === 401) set({phase: 'locked'});
  else set({problem: {message: error.message, hint: error.hint || ''}});
}

// --- addresses: #/SPACE/step, so that back, forward and reload work ---

export const STEPS = ['table', 'columns', 'promise', 'candidates', 'inspect', 'release'];

export function go(step, space = state.space && state.space.id) {
  location.hash = step === 'table' && !space ? '#/' : `#/${space}/${step}`;
}

export async function arrive() {
  const [, id, step] = location.hash.split('/');
  const wanted = STEPS.includes(step) ? step : 'table';
  if (!id) {
    stopWatching();
    const listed = await api.get('/api/spaces');
    const spaces = listed.spaces.filter((space) => space.status !== 'failed');
    set({space: null, opened: null, doc: null, past: [], future: [], step: 'table', spaces, problem: null});
    return;
  }
  if (!state.space || state.space.id !== id) {
    try { await load(id); } catch (error) {
      if (error.code !== 'S504') throw error;
      history.replaceState(null, '', '#/');
      await arrive();
      set({problem: {message: error.message, hint: error.hint}});
      return;
    }
  }
  set({step: state.opened ? wanted : 'table', problem: null});
  window.scrollTo(0, 0);
}

async function load(id) {
  const space = await api.get(`/api/spaces/${id}`);
  set({space, opened: null, doc: null, past: [], future: [], jobs: {}, step: 'table'});
  watch();
  if (space.status === 'done') await until(() => state.opened);
}

const until = (ready) => new Promise((resolve) => {
  const look = () => (ready() ? resolve() : setTimeout(look, 20));
  look();
});

// --- jobs ---

let stopWatching = () => {};

// One stream tells of all jobs of a table; leaving the table lets it go.
function watch() {
  const space = state.space, end = new AbortController();
  stopWatching();
  stopWatching = () => end.abort();
  const hear = ({job: id, state: job}) => {
    if (state.space !== space) return;
    state.jobs = {...state.jobs, [id]: job};
    if (id === 'open' && job.status === 'done' && !state.opened) opened(job.result);
    draw();
  };
  const again = () => api.follow(`/api/spaces/${space.id}/events`, hear, end.signal).then(
    () => { if (!end.signal.aborted && state.space === space) setTimeout(again, 1000); },
    (error) => { if (!end.signal.aborted && state.space === space) fail(error); });
  again();
}

export async function start(task, given) {
  const {id} = await api.send('POST', `/api/spaces/${state.space.id}/jobs`, {task, given});
  state.space.jobs = [...state.space.jobs, {id, task, about: given, status: 'running'}];
  state.jobs = {[id]: {status: 'running', stages: []}, ...state.jobs};
  return id;
}

export async function cancel(id) {
  await api.send('DELETE', `/api/spaces/${state.space.id}/jobs/${id}`);
  say('Stopped');
}

export const ask = (task, given) => api.send('POST', `/api/spaces/${state.space.id}/ask`, {task, given});
export const about = (id) => (state.space.jobs.find((job) => job.id === id) || {}).about;

// --- decisions ---

function opened(result) {
  const fresh = {
    columns: Object.fromEntries(result.columns.map((column) => [column.name, column.proposed])),
    models: result.models, suppression: 0.02, suppressed: 'drop', preset: null,
    trial: null, chosen: null, order: 'sort', format: 'csv', compareJob: null, releaseJob: null,
  };
  const kept = state.space.document;
  state.opened = result;
  state.doc = kept && kept.columns ? kept : fresh;
  if (state.step === 'table') {
    const [, , step] = location.hash.split('/');
    if (STEPS.includes(step)) state.step = step;
  }
}

// Changes a decision; `what` says which, for undoing.
export function decide(what, change) {
  const next = {...state.doc, ...change(state.doc)};
  if (JSON.stringify(next) === JSON.stringify(state.doc)) return;
  set({past: [...state.past.slice(-99), {what, doc: state.doc}], future: [], doc: next});
  save();
}

// Keeps something that is no decision, such as which job shows it.
export function note(change) {
  set({doc: {...state.doc, ...change}});
  save();
}

export function undo() { turn('past', 'future', 'Undone'); }
export function redo() { turn('future', 'past', 'Done again'); }

function turn(from, to, word) {
  const list = state[from];
  if (!list.length) return;
  const {what, doc} = list[list.length - 1];
  set({[from]: list.slice(0, -1), [to]: [...state[to], {what, doc: state.doc}], doc});
  say(`${word}: ${what}`);
  save();
}

let saving = null, again = false;
function save() {
  if (saving) { again = true; return; }
  const space = state.space;
  saving = api.send('PUT', `/api/spaces/${space.id}/document`, {version: space.version, document: state.doc})
    .then(({version}) => { space.version = version; })
    .catch(async (error) => {
      if (error.code !== 'S503') { fail(error); return; }
      again = false;
      await load(space.id);
      set({problem: {message: 'Another tab changed these decisions.', hint: 'They are shown now; your last change was not kept.'}});
    })
    .finally(() => { saving = null; if (again) { again = false; save(); } });
}

// --- what follows from the decisions ---

export const having = (role) => Object.keys(state.doc.columns).filter((name) => state.doc.columns[name].role === role);

export function policy(doc = state.doc) {
  return {suppression: doc.suppression, suppressed: doc.suppressed, columns: doc.columns, models: doc.models};
}

export function kOf(doc = state.doc) {
  const found = doc.models.find((model) => model.name === 'k-anonymity');
  return found ? found.k : null;
}

export const withK = (models, k) => models.map((model) => (model.name === 'k-anonymity' ? {...model, k} : model));

// Whether a job was begun under the decisions as they are now.
export function current(id, ignoringK = false) {
  const given = about(id);
  if (!given) return false;
  const plain = (p) => JSON.stringify(ignoringK ? {...p, models: p.models.filter((m) => m.name !== 'k-anonymity')} : p);
  return plain(given.policy) === plain(policy());
}
