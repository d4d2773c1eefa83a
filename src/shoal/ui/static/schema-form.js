// Forms from JSON Schema: whatever a model or an algorithm declares has its field.

import {html} from './vendor/htm-preact.js';

const inner = (schema) => (schema.anyOf ? schema.anyOf.find((part) => part.type !== 'null') : schema);
const numbers = (schema) => schema.type === 'array' && ['number', 'integer'].includes((schema.items || {}).type);

export function words(schema) {
  const s = inner(schema);
  const ends = [s.minimum !== undefined && `at least ${s.minimum}`, s.exclusiveMinimum !== undefined && `above ${s.exclusiveMinimum}`, s.maximum !== undefined && `at most ${s.maximum}`].filter(Boolean);
  return ends.join(', ');
}

// What is wrong with a value, in a few words; empty when nothing is.
export function problem(schema, value) {
  const s = inner(schema);
  if (value === undefined || value === null || value === '') return schema.anyOf || schema.default !== undefined ? '' : 'needed';
  if (s.type === 'integer' && !Number.isInteger(value)) return 'a whole number';
  if (s.type === 'number' && typeof value !== 'number') return 'a number';
  if (typeof value === 'number') {
    const low = s.minimum !== undefined && value < s.minimum, open = s.exclusiveMinimum !== undefined && value <= s.exclusiveMinimum;
    if (low || open || (s.maximum !== undefined && value > s.maximum)) return words(schema);
  }
  if (numbers(s) && !(Array.isArray(value) && value.every((x) => typeof x === 'number' && !Number.isNaN(x)))) return 'numbers, separated by commas';
  return '';
}

export const problems = (schema, values) => Object.entries(schema.properties).flatMap(([name, s]) => {
  const found = problem(s, values[name]);
  return found && (schema.required.includes(name) || values[name] !== undefined) ? [`${name}: ${found}`] : [];
});

function Control({id, schema, value, onChange, options}) {
  const s = inner(schema), optional = Boolean(schema.anyOf);
  const wrong = problem(schema, value) ? 'true' : null;
  const common = {id, 'aria-invalid': wrong, 'aria-describedby': `${id}-help`};
  if (options) {
    const chosen = value || [];
    return html`<span class="checks" role="group" aria-labelledby=${`${id}-label`}>${options.map((name) => html`<label><input type="checkbox" checked=${!chosen.length || chosen.includes(name)}
      onChange=${(e) => { const all = chosen.length ? chosen : options; const next = e.target.checked ? [...all, name] : all.filter((n) => n !== name);
        if (!next.length) { e.target.checked = true; return; } onChange(next.length === options.length ? undefined : options.filter((n) => next.includes(n))); }} /> ${name}</label>`)}</span>`;
  }
  if (s.type === 'boolean') return html`<input type="checkbox" ...${common} checked=${value ?? schema.default ?? false} onChange=${(e) => onChange(e.target.checked)} />`;
  if (s.enum) {
    return html`<select ...${common} value=${value ?? schema.default ?? ''} onChange=${(e) => onChange(e.target.value === '' ? null : e.target.value)}>
      ${optional && html`<option value="">by itself</option>`}${s.enum.map((option) => html`<option value=${option}>${option}</option>`)}</select>`;
  }
  if (s.type === 'array' && (s.items || {}).enum) {
    const chosen = value || schema.default || [];
    return html`<span class="checks" role="group" aria-labelledby=${`${id}-label`}>${s.items.enum.map((name) => html`<label><input type="checkbox" checked=${chosen.includes(name)}
      onChange=${(e) => onChange(s.items.enum.filter((n) => (n === name ? e.target.checked : chosen.includes(n))))} /> ${name}</label>`)}</span>`;
  }
  if (s.type === 'array') {
    const read = (text) => text.split(',').map((x) => x.trim()).filter(Boolean).map((x) => (numbers(s) ? Number(x) : x));
    return html`<input type="text" ...${common} value=${(value || []).map((x) => (Number.isNaN(x) ? '?' : x)).join(', ')} onChange=${(e) => onChange(e.target.value.trim() ? read(e.target.value) : undefined)} />`;
  }
  if (s.type === 'integer' || s.type === 'number') {
    const step = s.type === 'integer' ? 1 : 'any';
    return html`<input type="number" ...${common} step=${step} min=${s.minimum ?? s.exclusiveMinimum} max=${s.maximum} placeholder=${optional ? 'by itself' : ''} value=${value ?? schema.default ?? ''}
      onChange=${(e) => onChange(e.target.value === '' ? (optional ? null : undefined) : Number(e.target.value))} />`;
  }
  return html`<input type="text" ...${common} value=${value ?? schema.default ?? ''} onChange=${(e) => onChange(e.target.value || undefined)} />`;
}

export function SchemaForm({id, schema, values, onChange, columns}) {
  return html`<div class="schema">${Object.entries(schema.properties).map(([name, s]) => {
    const options = name === 'columns' ? columns : null;
    if (options && options.length < 2) return null;
    const field = `${id}-${name}`, wrong = problem(s, values[name]);
    const needed = wrong && (schema.required.includes(name) || values[name] !== undefined);
    const put = (value) => { const {[name]: was, ...rest} = values; onChange(value === undefined ? rest : {...rest, [name]: value}, name); };
    return html`<div class=${`field ${needed ? 'wrong' : ''}`} key=${name}><label id=${`${field}-label`} for=${field}>${name}</label>
      <${Control} id=${field} schema=${s} value=${values[name]} onChange=${put} options=${options} />
      <p class="help" id=${`${field}-help`}>${needed ? html`<b class="bad-ink">${wrong}</b> ` : ''}${s.description}</p></div>`;
  })}</div>`;
}
