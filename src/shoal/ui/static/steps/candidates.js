// Step 4: several algorithms and strengths, tried in the background, on the plane of risk and loss.

import {html, useState} from '../vendor/htm-preact.js';
import {about, current, decide, fail, go, kOf, note, policy, say, start, state, withK} from '../store.js';
import {Button, Heading, Notice, Work, count, ended, percent, sentence} from '../parts.js';
import {Plane} from '../charts.js';

const LARGE = 50000;

// What is tried unless someone chooses otherwise: quick ones always, careful ones where the table allows.
function usual() {
  const names = state.about.algorithms.map((a) => a.name), trees = Object.values(state.doc.columns).some((c) => c.hierarchy);
  const wanted = ['mondrian', ...(state.opened.records <= LARGE ? ['k-member'] : []), ...(trees ? ['local'] : [])];
  return wanted.filter((name) => names.includes(name));
}

const trial = () => state.doc.trial || {algorithms: usual(), ks: kOf() ? [kOf(), 2 * kOf(), 4 * kOf()] : []};

async function begin() {
  const {algorithms, ks} = trial();
  note({compareJob: await start('compare', {policy: policy(), algorithms, ks, seed: 0})});
  say('Trying candidates');
}

export function pick(row) {
  decide(`candidate: ${row.algorithm}${row.k ? `, k = ${row.k}` : ''}`, (doc) => ({
    chosen: {algorithm: row.algorithm, parameters: {}, k: row.k, refine: Boolean(doc.chosen && doc.chosen.refine)}, models: row.k ? withK(doc.models, row.k) : doc.models,
    preset: row.k === kOf(doc) ? doc.preset : null,
  }));
  go('inspect');
}

function What() {
  const {algorithms, ks} = trial();
  const put = (change) => decide('what is tried', () => ({trial: {...trial(), ...change}}));
  const toggle = (name, on) => put({algorithms: state.about.algorithms.map((a) => a.name).filter((n) => (n === name ? on : algorithms.includes(n)))});
  const strengths = (text) => { const found = [...new Set(text.split(/[\s,;]+/).map(Number))].filter((n) => Number.isInteger(n) && n > 0).sort((a, b) => a - b); if (found.length) put({ks: found}); };
  return html`<details class="more"><summary>What is tried: ${algorithms.join(', ') || 'nothing'}${ks.length ? `, with classes of ${ks.join(', ')}` : ''}</summary>
    ${ks.length > 0 && html`<div class="field"><label for="ks">Class sizes (k)</label><input id="ks" type="text" inputmode="numeric" value=${ks.join(', ')} onChange=${(e) => strengths(e.target.value)} /><p class="help">Larger classes protect more and say less.</p></div>`}
    <fieldset class="algorithms"><legend>Algorithms</legend>${state.about.algorithms.map((a) => html`<label key=${a.name}><input type="checkbox" checked=${algorithms.includes(a.name)} onChange=${(e) => toggle(a.name, e.target.checked)} /><b>${a.name}</b> <span>${a.summary}</span></label>`)}</fieldset></details>`;
}

function Results({rows, records}) {
  const {chosen} = state.doc;
  const able = rows.filter((row) => row.holds), best = able.length ? able.reduce((a, b) => (b.gcp < a.gcp ? b : a)) : null;
  const bounded = rows.some((row) => typeof row.bound === 'number');
  return html`<div class="scroll"><table class="results"><thead><tr><th>Candidate</th><th class="number">k</th><th class="number">Detail lost</th>${bounded && html`<th class="number">No less than</th>`}<th class="number wide">Classes</th><th class="number wide">Left out</th><th class="number wide">Seconds</th><th><span class="unseen">Choose</span></th></tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${`${row.algorithm}-${row.k}`} class=${chosen && chosen.algorithm === row.algorithm && chosen.k === row.k ? 'on' : ''}><th scope="row">${row.algorithm}${row === best ? html` <em class="tag">least lost</em>` : ''}</th><td class="number">${row.k ?? '–'}</td>
      ${row.holds ? html`<td class="number">${percent(row.gcp, 1)}</td>${bounded && html`<td class="number">${typeof row.bound === 'number' ? percent(row.bound, 1) : '–'}</td>`}<td class="number wide">${count(row.classes)}</td><td class="number wide">${count(row.suppressed)}</td><td class="number wide">${row.seconds.toFixed(1)}</td>
      <td><${Button} kind="small" aria-label=${`Inspect ${row.algorithm}${row.k ? `, k = ${row.k}` : ''}`} onClick=${() => pick(row)}>Inspect<//></td>`
      : html`<td colspan=${bounded ? 6 : 5} class="refusal">${sentence(row.error || 'It does not keep the policy.')}</td>`}</tr>`)}</tbody></table></div>`;
}

function boundsOf(rows) {
  const found = new Map();
  for (const row of rows) if (typeof row.bound === 'number') found.set(row.k, Math.max(found.get(row.k) || 0, row.bound));
  const least = [...found].sort((a, b) => a[1] - b[1])[0]; // it holds for all of them; each one's own is in the table
  return least ? [{k: least[0], loss: least[1]}] : [];
}

export function CandidatesStep() {
  const [busy, setBusy] = useState(false);
  const id = state.doc.compareJob, job = id && state.jobs[id];
  const rows = (job && job.rows) || [], running = job && job.status === 'running';
  const fresh = id && current(id, true);
  const given = about(id) || {};
  const same = fresh && JSON.stringify([given.algorithms, given.ks]) === JSON.stringify([trial().algorithms, trial().ks]);
  const run = async () => { setBusy(true); await begin().catch(fail); setBusy(false); };
  return html`<${Heading} title="Which release?">Every method keeps the promise; they differ in how much detail is left. Candidates near the bottom left are better: less risk, less loss.<//>
    ${!id && html`<div class="empty"><p>Several methods are tried on your table, each with several class sizes. It runs in the background, and you can stop it.</p><${Button} kind="main" id="try" busy=${busy} disabled=${busy || !trial().algorithms.length} onClick=${run}>Try candidates<//></div>`}
    ${running && html`<${Work} id=${id} job=${job} title="Trying candidates" />`}
    ${running && !rows.length && html`<p class="help">The first run on a machine takes up to a minute longer: methods are prepared once, and kept.</p>`}
    ${job && !running && job.status !== 'done' && ended(job, 'The trial', rows.length ? 'What it had found stays.' : undefined)}
    ${rows.length > 0 && !fresh && html`<${Notice} kind="warn" title="These were tried under earlier decisions.">Try again to see what the present ones give.<//>`}
    ${rows.length > 0 && html`<${Plane} rows=${rows} records=${state.opened.records} chosen=${state.doc.chosen} onPick=${pick} bounds=${boundsOf(rows)} /><${Results} rows=${rows} />`}
    ${id && !running && html`<p><${Button} id="try" kind=${same && rows.length ? 'plain' : 'main'} busy=${busy} disabled=${busy || !trial().algorithms.length} onClick=${run}>Try again<//></p>`}
    <${What} />
    <div class="ends"><${Button} icon="back" id="back" onClick=${() => go('promise')}>Promise<//><${Button} kind="main" after="next" id="next" disabled=${!state.doc.chosen} onClick=${() => go('inspect')}>Inspect<//></div>`;
}
