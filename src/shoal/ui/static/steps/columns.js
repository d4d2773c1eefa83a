// Step 2: what every column means for privacy, and beside it what the table gives away.

import {html, useState} from '../vendor/htm-preact.js';
import {ask, decide, go, having, state} from '../store.js';
import {Button, Heading, Icon, Notice, Refused, count, listed, percent, plural, useAnswer} from '../parts.js';
import {Spark} from '../charts.js';
import {HierarchyEditor} from './hierarchy.js';
import {OrderEditor} from './order.js';

export const ROLES = {
  identifier: ['Names a person', 'left out of the release'],
  quasi: ['Others may know it', 'made coarser until nobody stands out'],
  sensitive: ['Must not be learned', 'kept, and protected'],
  weight: ['Sampling weight', 'published as it is'],
  other: ['Neither', 'published as it is'],
};
const KINDS = {numeric: 'numbers', ordinal: 'ordered categories', categorical: 'categories', date: 'dates'};
const ACTIONS = {drop: 'leave out', mask: 'replace by ***'};

const bare = (column) => { const {role, ...rest} = column; return rest; };

function setRole(name, role) {
  decide(`role of ${name}`, (doc) => {
    const was = doc.columns[name], known = state.opened.columns.find((c) => c.name === name);
    const next = {role};
    if (role === 'quasi' || role === 'sensitive') {
      next.kind = was.kind || known.proposed.kind || known.kind;
      if (was.hierarchy) next.hierarchy = was.hierarchy;
      if (was.order) next.order = was.order;
    }
    const columns = {...doc.columns, [name]: next};
    return {columns, models: pruned(doc.models, columns), preset: doc.preset};
  });
}

// A model that names a column which is not sensitive any more would be refused.
function pruned(models, columns) {
  const sensitive = Object.keys(columns).filter((name) => columns[name].role === 'sensitive');
  const perColumn = new Set(state.about.models.filter((m) => m.per_column).map((m) => m.name));
  return models.flatMap((model) => {
    if (!perColumn.has(model.name)) return [model];
    if (!sensitive.length) return [];
    if (!model.columns || !model.columns.length) return [model];
    const left = model.columns.filter((name) => sensitive.includes(name));
    return left.length ? [{...model, columns: left}] : [];
  });
}

function setKind(name, kind) {
  decide(`kind of ${name}`, (doc) => {
    const {hierarchy, order, form, ...rest} = doc.columns[name];
    return {columns: {...doc.columns, [name]: {...rest, kind}}};
  });
}

function Values({name}) {
  const [shown, setShown] = useState(false);
  const {answer, error} = useAnswer(shown ? () => ask('values', {column: name}) : null, shown ? name : null, 0);
  if (!shown) return html`<button type="button" class="link" onClick=${() => setShown(true)}>Show frequent values</button>`;
  return html`<div class="values">${error ? html`<${Refused} error=${error} />` : answer ? answer.values.map((v) => html`<span><code>${v.value}</code> ${count(v.count)}</span>`) : 'Looking …'}
    <button type="button" class="link" onClick=${() => setShown(false)}>Hide</button></div>`;
}

function Column({column}) {
  const [open, setOpen] = useState(false), [ranks, setRanks] = useState(false);
  const name = column.name, chosen = state.doc.columns[name];
  const editable = chosen.role === 'quasi' || chosen.role === 'sensitive';
  const facts = [plural(column.distinct, 'different value'), column.unique ? `${percent(column.unique / column.records)} occur once` : 'none occurs once',
    column.nulls ? `${percent(column.nulls / column.records)} empty` : 'none empty'];
  const id = `c-${state.opened.columns.indexOf(column)}`;
  return html`<li class=${`column ${chosen.role}`}>
    <div class="column-name"><h3>${name}</h3><p>${facts.map((fact) => html`<span>${fact}</span> `)}</p></div>
    <${Spark} column=${column} />
    <div class="column-role"><label class="unseen" for=${`${id}-role`}>Role of ${name}</label>
      <select id=${`${id}-role`} value=${chosen.role} onChange=${(e) => setRole(name, e.target.value)} aria-describedby=${`${id}-why`}>
        ${Object.entries(ROLES).map(([role, [words]]) => html`<option value=${role}>${words}</option>`)}</select>
      ${editable && html`<label class="unseen" for=${`${id}-kind`}>Kind of ${name}</label>
      <select id=${`${id}-kind`} value=${chosen.kind} onChange=${(e) => setKind(name, e.target.value)}>
        ${Object.entries(KINDS).map(([kind, words]) => html`<option value=${kind}>${words}</option>`)}</select>`}
      ${chosen.role === 'identifier' && html`<label class="unseen" for=${`${id}-action`}>What happens to ${name}</label>
      <select id=${`${id}-action`} value=${chosen.action || 'drop'} onChange=${(e) => decide(`action of ${name}`, (doc) => ({columns: {...doc.columns, [name]: {role: 'identifier', ...(e.target.value === 'drop' ? {} : {action: e.target.value})}}}))}>
        ${Object.entries(ACTIONS).map(([action, words]) => html`<option value=${action}>${words}</option>`)}</select>`}
    </div>
    <p class="why" id=${`${id}-why`}>${chosen.role === column.proposed.role ? html`Proposed: ${column.reason}.` : html`Proposed was “${ROLES[column.proposed.role][0].toLowerCase()}”: ${column.reason}.`}</p>
    <div class="column-more">
      ${editable && html`<button type="button" class="link" id=${`${id}-levels`} aria-expanded=${open ? 'true' : 'false'} onClick=${() => setOpen(!open)}>
        ${open ? 'Close the hierarchy' : chosen.hierarchy ? 'Hierarchy' : 'Add a hierarchy'}</button>`}
      ${chosen.kind === 'ordinal' && editable && html`<button type="button" class="link" id=${`${id}-ranks`} aria-expanded=${ranks ? 'true' : 'false'} onClick=${() => setRanks(!ranks)}>${ranks ? 'Close the order' : 'Order of the values'}</button>`}
      <${Values} name=${name} /></div>
    ${ranks && editable && chosen.kind === 'ordinal' && html`<${OrderEditor} name=${name} id=${id} />`}
    ${open && editable && html`<${HierarchyEditor} name=${name} id=${id} />`}
  </li>`;
}

function Audit() {
  const quasi = having('quasi'), sensitive = having('sensitive');
  const key = JSON.stringify([quasi, sensitive]);
  const {answer, error, stale} = useAnswer(quasi.length ? () => ask('audit', {quasi, sensitive}) : null, key);
  const head = html`<h2>As the table is now</h2>`;
  if (!quasi.length) return html`<aside class="audit" aria-label="Audit">${head}<${Notice} kind="warn">No column is marked as something others may know. Then nobody could be found in the table by what is known about them, and nothing would be made coarser.<//></aside>`;
  if (error && !stale) return html`<aside class="audit">${head}<${Refused} error=${error} /></aside>`;
  if (!answer) return html`<aside class="audit" aria-busy="true">${head}<p class="waiting">Counting who stands out …</p></aside>`;
  const share = answer.unique_share;
  return html`<aside class=${`audit ${stale ? 'stale' : ''}`} aria-label="Audit" aria-busy=${stale ? 'true' : 'false'}>${head}
    <p class="big"><b class=${share > 0.05 ? 'bad-ink' : ''}>${percent(share)}</b> of the people are unique on ${answer.quasi.length === 1 ? 'this column' : `these ${answer.quasi.length} columns`}</p>
    <p class="help">${listed(answer.quasi)}</p>
    <h3>Few columns are enough</h3><dl class="sets">${answer.identifying.slice(0, 4).map((set) => html`<div><dt>${set.columns.join(' + ')}</dt><dd>${percent(set.share)}</dd></div>`)}</dl>
    ${answer.sensitive.length > 0 && html`<h3>What becomes certain</h3><dl class="sets">${answer.sensitive.map((risk) => html`<div><dt>${risk.column}</dt><dd>${plural(risk.certain + risk.certain_alone, 'person', 'people')}</dd></div>`)}</dl>
    <p class="help">Whoever knows the columns above about someone would know these values, too.</p>`}</aside>`;
}

export function ColumnsStep() {
  const groups = ['identifier', 'quasi', 'sensitive'].map((role) => having(role).length);
  return html`<${Heading} title="What do the columns mean?">A proposal was made from names, types and counts. Read it line by line: it is a guess, and the rest follows from it.<//>
    <div class="with-aside"><div>
      <p class="summary"><span class="dot identifier"></span>${plural(groups[0], 'names', 'name')} a person <span class="dot quasi"></span>${groups[1]} others may know <span class="dot sensitive"></span>${groups[2]} must not be learned</p>
      <ul class="columns">${state.opened.columns.map((column) => html`<${Column} key=${column.name} column=${column} />`)}</ul>
    </div><${Audit} /></div>
    <div class="ends"><${Button} icon="back" id="back" onClick=${() => go('table')}>Table<//><${Button} kind="main" after="next" id="next" disabled=${!groups[1]} onClick=${() => go('promise')}>Promise<//></div>`;
}
