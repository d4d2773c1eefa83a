// Step 5: what a candidate does to people's rows, where detail is lost, and what an attacker still learns.

import {html, useState} from '../vendor/htm-preact.js';
import {ask, decide, go, having, kOf, state} from '../store.js';
import {Button, Heading, Icon, Notice, Refused, count, listed, percent, plural, sentence, useAnswer} from '../parts.js';
import {Bars, Histogram} from '../charts.js';
import {Making, useRelease} from '../making.js';

function Tile({value, label, kind = ''}) {
  return html`<div class=${`tile ${kind}`}><b>${value}</b><span>${label}</span></div>`;
}

function Rows({job}) {
  const [real, setReal] = useState(false), [seed, setSeed] = useState(1);
  const {answer, error, stale} = useAnswer(() => ask('rows', {job, real, count: 4, seed}), JSON.stringify([job, real, seed]), 0);
  const role = (name) => (state.doc.columns[name] || {role: 'other'}).role;
  const all = answer && answer.pairs.length ? answer.columns : [];
  const removed = all.filter((name) => role(name) === 'identifier' && !(name in answer.pairs[0].after));
  const names = all.filter((name) => real || !removed.includes(name));
  const after = (pair, name) => {
    if (name in pair.after) return pair.after[name] === null ? html`<i>empty</i>` : pair.after[name];
    if (`${name}_min` in pair.after) return `${pair.after[`${name}_min`]} to ${pair.after[`${name}_max`]}`;
    return html`<i>removed</i>`;
  };
  return html`<section class="panel"><div class="panel-head"><h2>Before and after</h2><div class="switch" role="group" aria-label="Which rows">
      <button type="button" id="invented" aria-pressed=${real ? 'false' : 'true'} onClick=${() => setReal(false)}>Invented people</button><button type="button" id="real" aria-pressed=${real ? 'true' : 'false'} onClick=${() => setReal(true)}>Real records</button></div></div>
    ${real ? html`<${Notice} kind="warn">These are real people. Make sure that nobody else can see this screen.<//>` : html`<p class="help">Nobody has these rows; a person who had would be published so.${removed.length > 0 && ` ${listed(removed)} ${removed.length === 1 ? 'is' : 'are'} removed.`}</p>`}
    ${error && !stale ? html`<${Refused} error=${error} />` : !answer ? html`<p class="waiting">Choosing rows …</p>` : !answer.pairs.length ? html`<p class="help">Classes are so alike inside that no example can be invented. Look at real records instead.</p>` : html`<div class=${`pairs ${stale ? 'stale' : ''}`}>${answer.pairs.map((pair, i) => html`<table class="pair" key=${i}><caption>${pair.shared_by ? `Shared by ${plural(pair.shared_by, 'person', 'people')}` : 'Suppressed'}</caption>
      <thead><tr><th scope="col"><span class="unseen">Column</span></th><th scope="col">Before</th><th scope="col">After</th></tr></thead>
      <tbody>${names.map((name) => html`<tr key=${name} class=${role(name)}><th scope="row">${name}</th><td>${pair.before[name] === null ? html`<i>empty</i>` : pair.before[name]}</td><td>${after(pair, name)}</td></tr>`)}</tbody></table>`)}</div>`}
    <${Button} id="others" kind="small" onClick=${() => setSeed(seed + 1)}>Show others<//></section>`;
}

function Exposure({result}) {
  const quasi = having('quasi'), sensitive = having('sensitive');
  const {answer} = useAnswer(() => ask('audit', {quasi, sensitive}), JSON.stringify([quasi, sensitive]), 0);
  const now = result.audit;
  const lines = answer ? [
    ['People who are unique on what others may know', percent(answer.unique_share), percent(now.unique_share), now.unique === 0],
    ['Chance of picking the right record, for the person most at risk', percent(1 / answer.smallest_class), percent(1 / now.smallest_class), true],
    ['The same, on average', percent(answer.classes / answer.records), percent(now.classes / now.records), true],
    ...now.sensitive.map((risk, i) => { const was = answer.sensitive[i]; const left = risk.certain + risk.certain_alone;
      return [`People whose ${risk.column} is certain for whoever knows the rest`, count(was.certain + was.certain_alone), count(left), left === 0]; }),
  ] : [];
  return html`<section class="panel"><h2>Who can be found</h2><p class="help">By someone who knows every column of a person that others may know.</p>
    ${!answer ? html`<p class="waiting">Counting …</p>` : html`<div class="scroll"><table class="attacks" id="exposure"><thead><tr><th scope="col">Of everyone in the table</th><th scope="col" class="number">Before</th><th scope="col" class="number">After</th></tr></thead>
      <tbody>${lines.map(([words, was, is, good]) => html`<tr><th scope="row">${words}</th><td class="number">${was}</td><td class="number">${good ? '' : html`<${Icon} name="warn" />`} ${is}</td></tr>`)}</tbody></table></div>`}</section>`;
}

// Attacks that were carried out on the published table, with the original as the truth.
function Attacks({result, job}) {
  if (!result.attacks) return job.status === 'running' ? html`<section class="panel"><h2>Attacks</h2><p class="waiting">Attacking it …</p></section>` : null;
  const share = (estimate) => (estimate ? percent(estimate.value) : '–');
  return html`<section class="panel"><h2>Attacks</h2><p class="help">Carried out on the published table, on ${plural(result.attacks.people, 'person', 'people')}, with the original as the truth. What counts is how far they get beyond guessing, and beyond what the table teaches about people who are not in it.</p>
    <div class="scroll"><table class="attacks" id="attacks"><thead><tr><th scope="col">Attack</th><th scope="col">What came of it</th><th scope="col" class="number">Before</th><th scope="col" class="number">After</th><th scope="col" class="number">Guessing</th></tr></thead>
    <tbody>${result.attacks.results.map((a) => html`<tr><th scope="row">${a.attack}${a.column ? html`<small>${a.column}</small>` : ''}</th><td class="verdict-words">${sentence(a.verdict)}</td><td class="number">${share(a.before)}</td><td class="number">${share(a.success)}</td><td class="number">${share(a.baseline)}</td></tr>`)}</tbody></table></div>
    ${result.attacks.not_run.length > 0 && html`<details><summary class="help">${plural(result.attacks.not_run.length, 'attack')} made no sense here</summary><ul class="help">${result.attacks.not_run.map((a) => html`<li>${a.attack}: ${a.reason}</li>`)}</ul></details>`}</section>`;
}

// How far the loss is from the least there can be, in words that promise no more than was proved.
function certificate({gcp, bound}) {
  if (typeof bound !== 'number' || !gcp) return 'of the detail is lost';
  return `of the detail is lost; every release with this k loses at least ${percent(bound, 1)}`;
}

function Refine() {
  const {chosen} = state.doc;
  const put = (e) => decide('refine', () => ({chosen: {...chosen, refine: e.target.checked}}));
  return html`<label class="refine"><input id="refine" type="checkbox" checked=${Boolean(chosen.refine)} onChange=${put} /><span><b>Refine</b> Take neighbouring classes apart and group them anew, under the same promise. Loses less, takes longer.</span></label>`;
}

export function InspectStep() {
  const release = useRelease(), {result, id, job} = release, {chosen} = state.doc;
  return html`<${Heading} title="What does it do?">${chosen.algorithm}${kOf() ? `, classes of at least ${kOf()}` : ''}. Look at it as the people in the table would, and as someone who looks for them.<//>
    <${Refine} />
    <${Making} ...${release} />
    ${result && html`<div class="tiles"><${Tile} value=${percent(result.metrics.gcp, 1)} label=${certificate(result.metrics)} /><${Tile} value=${count(result.evidence.classes)} label="classes of people who look the same" />
      <${Tile} value=${count(result.audit.smallest_class)} label="people in the smallest class" /><${Tile} value=${count(result.evidence.suppressed)} label="people left out" /></div>
    <${Rows} job=${id} />
    <div class="panels"><section class="panel"><h2>Detail lost, by column</h2><${Bars} label="Detail lost by column" unit=${(v) => percent(v, 1)} rows=${Object.entries(result.metrics.ncp).map(([name, value]) => ({name, value, of: 1}))} />
      <p class="help">0% is the original, 100% is nothing left.</p></section>
      <section class="panel"><h2>How large the classes are</h2><${Histogram} sizes=${result.sizes} least=${kOf()} /></section></div>
    <${Exposure} result=${result} />
    <${Attacks} result=${result} job=${job} />`}
    <div class="ends"><${Button} icon="back" id="back" onClick=${() => go('candidates')}>Candidates<//><${Button} kind="main" after="next" id="next" disabled=${!result} onClick=${() => go('release')}>Release<//></div>`;
}
