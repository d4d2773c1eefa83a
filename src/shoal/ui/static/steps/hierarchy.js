// The editor of one column's hierarchy, with what every level makes of its values.

import {html, useRef, useState} from '../vendor/htm-preact.js';
import * as api from '../api.js';
import {ask, decide, state} from '../store.js';
import {Button, Field, Notice, Refused, count, plural, useAnswer} from '../parts.js';
import {SchemaForm, problems} from '../schema-form.js';

function put(name, hierarchy) {
  decide(`hierarchy of ${name}`, (doc) => {
    const {hierarchy: was, ...rest} = doc.columns[name];
    return {columns: {...doc.columns, [name]: hierarchy ? {...rest, hierarchy} : rest}};
  });
}

const specOf = (kind, values) => ({type: kind, ...Object.fromEntries(Object.entries(values).filter(([, v]) => v !== null && v !== undefined))});

function Upload({name, onError}) {
  const field = useRef();
  const take = async (file) => {
    if (!file) return;
    onError(null);
    const sent = api.upload(`/api/spaces/${state.space.id}/hierarchy`, file, () => {});
    try { put(name, (await sent.done).hierarchy); } catch (error) { onError(error); }
  };
  return html`<input type="file" class="unseen" tabindex="-1" ref=${field} accept=".csv,.txt" aria-label=${`Hierarchy file for ${name}`} onChange=${(e) => { take(e.target.files[0]); e.target.value = ''; }} />
    <${Button} onClick=${() => field.current.click()}>Choose a hierarchy file<//>
    <p class="help">One line for each value: <code>value;level 1;…;*</code>, the format of ARX.</p>`;
}

function Levels({name, hierarchy}) {
  const {answer, error, stale} = useAnswer(() => ask('levels', {column: name, hierarchy}), JSON.stringify([name, hierarchy]), 100);
  if (error && !stale) return html`<${Refused} error=${error} />`;
  if (!answer) return html`<p class="waiting">Applying it …</p>`;
  return html`<div class=${stale ? 'stale' : ''}>
    ${answer.unknown > 0 && html`<${Notice} kind="warn">${plural(answer.unknown, 'different value')} of this column ${answer.unknown === 1 ? 'is' : 'are'} not in it. A release would be refused.<//>`}
    <ol class="levels" start="0" aria-label=${`Levels of ${name}`}>${answer.levels.map((level, i) => html`<li key=${i}>
      <div><b>${i === 0 ? 'As it is' : i === answer.levels.length - 1 ? 'Nothing said' : `Level ${i}`}</b><span>${plural(level.groups, 'value')}, the rarest for ${plural(level.fewest_records, 'person', 'people')}</span></div>
      <p>${level.labels.map((label) => html`<code>${label}</code>`)}${level.groups > level.labels.length ? html`<span>and ${count(level.groups - level.labels.length)} more</span>` : ''}</p></li>`)}</ol></div>`;
}

export function HierarchyEditor({name, id}) {
  const [error, setError] = useState(null);
  const chosen = state.doc.columns[name], hierarchy = chosen.hierarchy;
  const offered = Object.entries(state.about.hierarchies).filter(([, form]) => form.kinds.includes(chosen.kind));
  const kind = hierarchy ? hierarchy.type : '';
  const known = state.about.hierarchies[kind];
  const choose = (next) => { setError(null); put(name, next ? specOf(next, state.about.hierarchies[next].example) : null); };
  const {type, ...values} = hierarchy || {};
  const flat = known && kind === 'bounds' && Array.isArray((values.levels || [])[0]) ? null : known;
  return html`<div class="editor"><div class="row">
      <${Field} id=${`${id}-hierarchy`} label="How values become coarser"><select id=${`${id}-hierarchy`} value=${kind} onChange=${(e) => choose(e.target.value)}>
        <option value="">${chosen.kind === 'categorical' ? 'sets of values, as they come together' : 'intervals, as they come together'}</option>
        ${offered.map(([key, form]) => html`<option value=${key}>${form.title}</option>`)}
        ${hierarchy && !offered.some(([key]) => key === kind) && html`<option value=${kind}>${kind === 'tree' ? 'From a file' : kind}</option>`}</select><//>
      <div class="field"><span class="label">Or as someone wrote it down</span><${Upload} name=${name} onError=${setError} /></div></div>
    <${Refused} error=${error} />
    ${flat && Object.keys(flat.properties).length > 0 && html`<${SchemaForm} id=${`${id}-h`} schema=${flat} values=${values} onChange=${(next) => put(name, specOf(kind, next))} />`}
    ${hierarchy ? (known && problems(known, values).length ? html`<p class="help">Fill in ${problems(known, values).join(', ')}.</p>` : html`<${Levels} name=${name} hierarchy=${hierarchy} />`)
    : html`<p class="help">Without a hierarchy, each class of people says of ${name} what its members have: from the least to the greatest, or which values. With one, values are replaced by the group they belong to.</p>`}
  </div>`;
}
