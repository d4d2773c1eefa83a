// Step 3: what is promised, in plain words, and every model underneath.

import {html, useState} from '../vendor/htm-preact.js';
import * as api from '../api.js';
import {ask, decide, fail, go, having, policy, state} from '../store.js';
import {Button, Heading, Icon, Notice, Refused, listed, percent, sentence, useAnswer} from '../parts.js';
import {SchemaForm, problems} from '../schema-form.js';

const ICONS = {internal: 'lock', partner: 'people', public: 'globe'};

let chosen = null;

async function choose(preset) {
  chosen = preset;
  const sensitive = having('sensitive').map((name) => {
    const column = state.opened.columns.find((c) => c.name === name);
    return {name, distinct: column.distinct, ordered: state.doc.columns[name].kind !== 'categorical'};
  });
  const made = await api.send('POST', `/api/presets/${preset.name}`, {sensitive});
  if (chosen !== preset) return; // another was chosen while the first was asked for
  decide(`promise: ${preset.title.toLowerCase()}`, () => ({preset: preset.name, models: made.models, suppression: made.suppression}));
}

function Presets() {
  const {preset} = state.doc;
  return html`<fieldset class="presets"><legend class="unseen">Who will get the table?</legend>${state.about.presets.map((p) => html`<label key=${p.name} class=${`preset ${preset === p.name ? 'on' : ''}`}>
    <input type="radio" name="preset" value=${p.name} checked=${preset === p.name} onChange=${() => choose(p).catch(fail)} />
    <span class="preset-head"><${Icon} name=${ICONS[p.name] || 'people'} /><b>${p.title}</b></span><span class="audience">${p.audience}</span>
    <ul>${p.meaning.map((line) => html`<li>${line}</li>`)}<li>At most ${percent(p.suppression)} of the people are left out.</li></ul></label>`)}</fieldset>`;
}

// What a model says here, with its own numbers; its declared summary where nobody wrote a sentence.
export function said(model) {
  const about = listed(model.columns && model.columns.length ? model.columns : having('sensitive'));
  const known = {
    'k-anonymity': () => `Everyone looks like at least ${model.k - 1} others. Whoever searches for a person finds ${model.k} or more.`,
    'l-diversity': () => `Every class has at least ${model.l} ${model.kind && model.kind !== 'distinct' ? 'well represented' : 'different'} values of ${about}.`,
    't-closeness': () => `In every class, ${about} is spread as in the whole table, but for a distance of ${model.t}.`,
    'p-sensitive': () => `Every class has at least ${model.k} people and ${model.p} different values of ${about}.`,
    'alpha-k': () => `Every class has at least ${model.k} people, and no value of ${about} has more than ${percent(model.alpha)} of one.`,
    'beta-likeness': () => `No value of ${about} becomes more than ${model.beta} times likelier by knowing someone's class.`,
  }[model.name];
  const summary = state.about.models.find((m) => m.name === model.name).summary;
  return known ? known() : sentence(summary);
}

function Model({model, index}) {
  const form = state.about.models.find((m) => m.name === model.name);
  const {name, ...values} = model;
  const change = (models, what) => decide(what, () => ({models, preset: null}));
  const put = (next, field) => change(state.doc.models.map((m, i) => (i === index ? {name, ...next} : m)), `${field} of ${name}`);
  return html`<li class="model"><div class="model-head"><h3>${name}</h3><${Button} kind="quiet" aria-label=${`Remove ${name}`} onClick=${() => change(state.doc.models.filter((_, i) => i !== index), `remove ${name}`)}>Remove<//></div>
    <p>${problems(form.schema, values).length ? sentence(form.summary) : said(model)}</p>
    <${SchemaForm} id=${`m-${index}`} schema=${form.schema} values=${values} onChange=${put} columns=${having('sensitive')} />
    ${form.reference && html`<p class="help">${form.reference}</p>`}</li>`;
}

function add(name) {
  const form = state.about.models.find((m) => m.name === name);
  const start = {k: 5, l: 2, t: 0.3, p: 2, alpha: 0.5, beta: 2, delta: 2, low: 0, high: 0.2};
  const values = Object.fromEntries(form.schema.required.filter((key) => key in start).map((key) => [key, start[key]]));
  decide(`add ${name}`, (doc) => ({models: [...doc.models, {name, ...values}], preset: null}));
}

function Models() {
  const [name, setName] = useState('');
  const none = !having('sensitive').length;
  const offered = state.about.models.filter((m) => !(m.per_column && none));
  return html`<details class="more" id="models"><summary>All models and their numbers</summary>
    <ul class="models">${state.doc.models.map((model, i) => html`<${Model} key=${`${i}-${model.name}`} model=${model} index=${i} />`)}</ul>
    <div class="joined"><select id="model" aria-label="Model to add" value=${name} onChange=${(e) => setName(e.target.value)}><option value="">Add a model …</option>
      ${offered.map((m) => html`<option value=${m.name}>${m.name}: ${m.summary}</option>`)}</select><${Button} id="add" disabled=${!name} onClick=${() => { add(name); setName(''); }}>Add<//></div>
    <div class="row"><div class="field"><label for="suppression">People who may be left out, at most (percent)</label>
      <input id="suppression" type="number" min="0" max="100" step="0.5" value=${Number((100 * state.doc.suppression).toFixed(4))} onChange=${(e) => { const share = Number(e.target.value) / 100; if (share >= 0 && share <= 1) decide('suppression limit', () => ({suppression: share, preset: null})); }} />
      <p class="help">Leaving out a few who stand out keeps the rest precise.</p></div>
    <div class="field"><label for="suppressed">What becomes of them</label><select id="suppressed" value=${state.doc.suppressed} onChange=${(e) => decide('what becomes of suppressed people', () => ({suppressed: e.target.value}))}>
      <option value="drop">their records are dropped</option><option value="star">they stay, with * in every column others may know</option></select></div></div></details>`;
}

export function formsAreRight(doc) {
  return doc.models.every((model) => { const {name, ...values} = model; return !problems(state.about.models.find((m) => m.name === name).schema, values).length; });
}

export function useCheck() {
  const right = formsAreRight(state.doc);
  return {right, ...useAnswer(right ? () => ask('check', {policy: policy()}) : null, JSON.stringify(policy()), 200)};
}

function Check({check}) {
  if (!check.right) return html`<${Notice} kind="bad" title="A number is missing or out of range.">It is marked below, under “All models”.<//>`;
  if (check.error && !check.stale) return html`<${Refused} error=${check.error} />`;
  if (!check.answer || check.stale) return html`<p class="waiting check" aria-busy="true">Asking whether this table can keep it …</p>`;
  const {problem} = check.answer;
  return problem ? html`<${Notice} kind="bad" title=${sentence(problem.message)}>${problem.hint && sentence(problem.hint)}<//>`
    : html`<${Notice} kind="good" title="Nothing stands against it.">Whether a release keeps it is computed again on the published table itself.<//>`;
}

export function PromiseStep() {
  const check = useCheck();
  const fine = check.right && check.answer && !check.stale && !check.answer.problem;
  const unprotected = having('sensitive').filter((name) => !state.doc.models.some((m) => state.about.models.find((f) => f.name === m.name).per_column && (!m.columns || !m.columns.length || m.columns.includes(name))));
  return html`<${Heading} title="What do you promise?">Choose by who will get the table. Every promise is checked again on the very file that leaves; if one does not hold, there is no file.<//>
    <${Presets} />
    <section class="promised"><h2>${state.doc.preset ? 'So you promise' : 'What is promised now'}</h2><ul class="sayings">${state.doc.models.map((model) => html`<li><${Icon} name="check" /><span>${said(model)}</span></li>`)}</ul>
      ${!state.doc.models.length && html`<p class="help">Nothing yet: choose a promise above, or add a model below.</p>`}
      ${unprotected.length > 0 && state.doc.models.length > 0 && html`<${Notice} kind="warn">No promise speaks about ${listed(unprotected)}. Whoever finds a class may learn what all of it share.<//>`}
      ${state.doc.models.length > 0 && html`<${Check} check=${check} />`}</section>
    <${Models} />
    <div class="ends"><${Button} icon="back" id="back" onClick=${() => go('columns')}>Columns<//><${Button} kind="main" after="next" id="next" disabled=${!fine} onClick=${() => go('candidates')}>Candidates<//></div>`;
}
