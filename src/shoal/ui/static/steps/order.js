// The order of an ordinal column's values, from least to greatest: a list whose entries move up and down.

import {html} from '../vendor/htm-preact.js';
import {ask, decide, state} from '../store.js';
import {Notice, Refused, useAnswer} from '../parts.js';

const MOST = 60;

function put(name, order, what) {
  decide(what, (doc) => ({columns: {...doc.columns, [name]: {...doc.columns[name], order}}}));
}

export function OrderEditor({name, id}) {
  const {answer, error} = useAnswer(() => ask('values', {column: name, most: MOST}), name, 0);
  if (error) return html`<${Refused} error=${error} />`;
  if (!answer) return html`<p class="waiting">Looking …</p>`;
  if (answer.distinct > MOST) return html`<div class="editor"><${Notice} kind="warn">${answer.distinct} different values are too many to put in order here. They are taken in ascending order; a policy file can say another.<//></div>`;
  const found = answer.values.map((v) => v.value);
  const kept = (state.doc.columns[name].order || []).filter((value) => found.includes(value));
  const order = [...kept, ...found.filter((value) => !kept.includes(value)).sort((a, b) => a.localeCompare(b, 'en', {numeric: true}))];
  const move = (i, step, event) => {
    const next = [...order], place = event.currentTarget;
    [next[i], next[i + step]] = [next[i + step], next[i]];
    put(name, next, `order of ${name}`);
    const again = place.closest('ol').children[i + step].querySelector(step < 0 ? '.up' : '.down');
    (again.disabled ? place.closest('ol').children[i + step].querySelector('button:not(:disabled)') : again).focus();
  };
  return html`<div class="editor"><p class="help">From least to greatest. Neighbours are taken together first.</p>
    <ol class="order" id=${`${id}-order`}>${order.map((value, i) => html`<li key=${i}><span>${value}</span>
      <button type="button" class="button small up" disabled=${i === 0} aria-label=${`Move ${value} towards the least`} onClick=${(e) => move(i, -1, e)}>↑</button>
      <button type="button" class="button small down" disabled=${i === order.length - 1} aria-label=${`Move ${value} towards the greatest`} onClick=${(e) => move(i, 1, e)}>↓</button></li>`)}</ol></div>`;
}
