// Small parts that every step uses.

import {html, useEffect, useLayoutEffect, useRef, useState} from './vendor/htm-preact.js';
import {cancel, fail} from './store.js';

export const count = (n) => Number(n).toLocaleString('en');
export const percent = (share, digits) => {
  const shown = 100 * share;
  const d = digits ?? (shown > 0 && shown < 10 ? 1 : 0);
  return `${shown > 0 && shown < 0.1 ? 'under 0.1' : shown.toFixed(d).replace(/\.0$/, '')}%`;
};
export const plural = (n, one, many = `${one}s`) => `${count(n)} ${Number(n) === 1 ? one : many}`;
export const listed = (names) => names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names[names.length - 1]}`;

const PATHS = {
  check: 'M4 10.5l4 4 8-9', cross: 'M5 5l10 10M15 5L5 15', warn: 'M10 3l8 14H2zM10 8v4M10 14.500v.5',
  undo: 'M8 5L4 9l4 4M4 9h8a4 4 0 0 1 0 8h-2', redo: 'M12 5l4 4-4 4M16 9H8a4 4 0 0 0 0 8h2',
  next: 'M7 4l6 6-6 6', back: 'M13 4l-6 6 6 6', down: 'M10 3v10m-4-4l4 4 4-4M4 17h12', file: 'M6 2h6l4 4v12H6zM12 2v4h4',
  lock: 'M5 9h10v8H5zM7 9V6a3 3 0 0 1 6 0v3', people: 'M7 9a3 3 0 1 0 0-6 3 3 0 0 0 0 6zM2 17c0-4 2-6 5-6s5 2 5 6M13 9a2.500 2.500 0 1 0 0-5M14 11c2.500.4 4 2.400 4 6',
  hand: 'M3 10c3-4 11-4 14 0-3 4-11 4-14 0zM10 12a2 2 0 1 0 0-4 2 2 0 0 0 0 4', globe: 'M10 2a8 8 0 1 0 0 16 8 8 0 0 0 0-16zM2 10h16M10 2c-5 5-5 11 0 16 5-5 5-11 0-16',
};

export const Icon = ({name}) => html`<svg class="icon" viewBox="0 0 20 20" aria-hidden="true"><path d=${PATHS[name]} /></svg>`;

export function Button({onClick, kind = 'plain', icon, after, busy, children, ...rest}) {
  return html`<button type="button" class=${`button ${kind}`} onClick=${onClick} aria-busy=${busy ? 'true' : null} ...${rest}>
    ${icon && html`<${Icon} name=${icon} />`}<span>${children}</span>${after && html`<${Icon} name=${after} />`}</button>`;
}

export const Notice = ({kind = 'info', title, children}) => html`<div class=${`notice ${kind}`} role=${kind === 'bad' ? 'alert' : null}>
  <${Icon} name=${{good: 'check', bad: 'warn', warn: 'warn', info: 'hand'}[kind]} />
  <div>${title && html`<strong>${title}</strong>`} ${children}</div></div>`;

export const Refused = ({error}) => error && html`<${Notice} kind="bad" title=${sentence(error.message)}>${error.hint && sentence(error.hint)}<//>`;

// The server writes messages to follow a code; here they stand alone.
export const sentence = (text) => text && `${text[0].toUpperCase()}${text.slice(1)}${/[.!?:]$|`$/.test(text) ? '' : '.'}`;

export function Field({label, help, children, id}) {
  return html`<div class="field"><label for=${id}>${label}</label>${children}${help && html`<p class="help" id=${`${id}-help`}>${help}</p>`}</div>`;
}

let arrivals = 0;

// A step that appears is read from its heading on; the first page leaves the focus where the browser put it.
export function Heading({title, children}) {
  const place = useRef();
  useLayoutEffect(() => { if (arrivals++) place.current.focus({preventScroll: true}); }, []);
  return html`<header class="heading"><h1 tabindex="-1" ref=${place}>${title}</h1><p class="lead">${children}</p></header>`;
}

// The work of a child process: stages, a bar where the total is known, and a way to stop it.
export function Work({id, job, title}) {
  const stages = (job.stages || []).filter((stage) => !stage.ended);
  const top = (job.stages || [])[0], shown = stages[stages.length - 1] || top;
  const known = shown && shown.total;
  const share = known ? Math.min(shown.done / shown.total, 1) : null;
  const [stopping, setStopping] = useState(false);
  const stop = () => { setStopping(true); cancel(id).catch(fail); };
  return html`<section class="work" aria-label=${title}>
    <div class="work-text"><strong>${title}</strong><span>${shown ? shown.name : 'starting'}${known ? `, ${count(shown.done)} of ${count(shown.total)}` : ''}</span></div>
    <div class="bar" role="progressbar" aria-label=${title} aria-valuemin="0" aria-valuemax="100" aria-valuenow=${share === null ? null : Math.round(100 * share)}>
      <${Filled} share=${share} /></div>
    ${id !== 'open' && html`<${Button} kind="quiet" onClick=${stop} disabled=${stopping} id=${`stop-${title.split(' ')[0].toLowerCase()}`}>Stop<//>`}
  </section>`;
}

// Widths go through the object model: the content policy allows no style attributes.
export function Filled({share, kind = ''}) {
  const place = useRef();
  useEffect(() => { place.current.style.width = share === null ? '' : `${100 * share}%`; }, [share]);
  return html`<i ref=${place} class=${`${kind} ${share === null ? 'unknown' : ''}`}></i>`;
}

export function ended(job, word, kept = 'Nothing was kept.') {
  if (!job) return null;
  if (job.status === 'cancelled') return html`<${Notice} kind="info">${word} was stopped. ${kept}<//>`;
  return job.status === 'failed' ? html`<${Refused} error=${job.error} />` : null;
}

// Asks the desk again whenever what is asked about changes; one question at a time, the last one counts.
export function useAnswer(question, key, wait = 150) {
  const [found, setFound] = useState({key: null, answer: null, error: null});
  const wanted = useRef(null), busy = useRef(false), mounted = useRef(true);
  useEffect(() => () => { mounted.current = false; }, []);
  useEffect(() => {
    if (!question) return undefined;
    wanted.current = {key, question};
    const run = async () => {
      if (busy.current || !wanted.current) return;
      const now = wanted.current;
      wanted.current = null;
      busy.current = true;
      const told = await now.question().then((answer) => ({answer, error: null}), (error) => ({answer: null, error}));
      busy.current = false;
      if (!mounted.current) return;
      if (told.error && (told.error.code === 'gone' || told.error.status === 401)) fail(told.error);
      setFound((old) => ({...told, answer: told.answer || (told.error ? null : old.answer), key: now.key}));
      run();
    };
    const timer = setTimeout(run, wait);
    return () => clearTimeout(timer);
  }, [key]);
  return {...found, stale: found.key !== key};
}
