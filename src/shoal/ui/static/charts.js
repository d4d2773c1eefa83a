// Drawings: distributions, class sizes, and the plane of risk and loss. Plain SVG with words for those who cannot see it.

import {html} from './vendor/htm-preact.js';
import {percent, plural} from './parts.js';

export function Spark({column}) {
  const {bars, rest, ordered} = column, most = Math.max(1, ...bars);
  const words = ordered ? `Distribution over its range, in ${bars.length} intervals` : `Its ${bars.length - (rest ? 1 : 0)} most frequent values${rest ? ', and all others' : ''}`;
  const wide = 120 / Math.max(bars.length, 1);
  return html`<svg class="spark" viewBox="0 0 120 34" preserveAspectRatio="none" role="img" aria-label=${words}><title>${words}</title>
    ${bars.map((bar, i) => html`<rect x=${i * wide + 0.5} width=${Math.max(wide - 1, 0.8)} y=${34 - Math.max(1, 33 * bar / most)} height=${Math.max(1, 33 * bar / most)} class=${rest && i === bars.length - 1 ? 'rest' : ''} />`)}</svg>`;
}

export function Bars({rows, label, unit}) {
  const most = Math.max(...rows.map((row) => row.value), 1e-9);
  return html`<table class="bars"><caption class="unseen">${label}</caption><tbody>${rows.map((row) => html`<tr key=${row.name}><th scope="row">${row.name}</th>
    <td class="track"><svg viewBox="0 0 100 10" preserveAspectRatio="none" aria-hidden="true"><rect width="100" height="10" class="back" /><rect width=${100 * row.value / (row.of || most)} height="10" /></svg></td><td class="number">${unit(row.value)}</td></tr>`)}</tbody></table>`;
}

export function Histogram({sizes, least}) {
  const most = Math.max(...sizes.map((s) => s.classes), 1), wide = 600 / Math.max(sizes.length, 1);
  const ranges = sizes.some((s) => s.from !== s.to), every = Math.ceil(sizes.length / (ranges ? 5 : 12));
  const name = (s) => (s.from === s.to ? `${s.from}` : `${s.from}–${s.to}`);
  return html`<figure class="chart"><svg viewBox="0 0 600 190" role="img" aria-label="Number of classes of each size">
    ${sizes.map((s, i) => html`<g key=${i}><rect class="column-bar" x=${i * wide + 2} width=${Math.max(wide - 4, 1)} y=${150 - 130 * s.classes / most} height=${130 * s.classes / most}><title>${plural(s.classes, 'class', 'classes')} of ${name(s)} people</title></rect>
      ${i % every === 0 && html`<text x=${(i + 0.5) * wide} y="167" text-anchor="middle">${name(s)}</text>`}</g>`)}
    <line x1="0" x2="600" y1="150.500" y2="150.500" class="axis" /><text x="300" y="187" text-anchor="middle" class="title">people in a class${least ? `; at least ${least} are promised` : ''}</text></svg></figure>`;
}

const MARKS = ['M-6 0a6 6 0 1 0 12 0a6 6 0 1 0-12 0', 'M-5.500-5.500h11v11h-11z', 'M0-7l7 12h-14z', 'M0-7.500l7.500 7.500-7.500 7.500-7.500-7.500z', 'M-6-2h4v-4h4v4h4v4h-4v4h-4v-4h-4z', 'M0 7l7-12h-14z', 'M-4-7h8l3 7-3 7h-8l-3-7z', 'M-7-4l7-3 7 3-3 9h-8z'];

function ticks(low, high, wanted = 5) {
  const step = 10 ** Math.floor(Math.log10((high - low) / wanted || 1));
  const size = [1, 2, 5, 10].map((m) => m * step).find((s) => (high - low) / s <= wanted) || step * 10;
  const found = [];
  for (let t = Math.ceil(low / size) * size; t <= high + 1e-12; t += size) found.push(Number(t.toPrecision(10)));
  return found;
}

// Risk to the right, loss upwards: the best candidates are at the bottom left. Below the certificate nothing can be.
export function Plane({rows, records, chosen, onPick, bounds}) {
  const points = rows.filter((row) => row.holds && row.gcp !== null && row.classes);
  if (!points.length) return null;
  const risk = (row) => row.classes / Math.max(records - row.suppressed, 1);
  const xs = points.map(risk), ys = [...points.map((row) => row.gcp), ...bounds.map((b) => b.loss)];
  const right = 1.08 * Math.max(...xs), up = 1.12 * Math.max(...ys, 0.01);
  const W = window.innerWidth < 600 ? 440 : 820, H = window.innerWidth < 600 ? 340 : 380, L = 58, B = 52, T = 12, R = 14;
  const x = (v) => L + (W - L - R) * v / right, y = (v) => H - B - (H - B - T) * v / up;
  const names = [...new Set(rows.map((row) => row.algorithm))];
  const move = (event, i) => {
    const step = {ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1}[event.key];
    if (step) { event.preventDefault(); const all = event.currentTarget.parentNode.querySelectorAll('.point'); all[(i + step + all.length) % all.length].focus(); }
    if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); onPick(points[i]); }
  };
  const at = points.findIndex((row) => chosen && row.algorithm === chosen.algorithm && row.k === chosen.k);
  return html`<figure class="chart plane"><svg viewBox=${`0 0 ${W} ${H}`} role="group" aria-label="Candidates by risk and loss. Arrow keys move between them, Enter inspects one.">
    ${ticks(0, up).map((t) => html`<g key=${`y${t}`}><line class="grid" x1=${L} x2=${W - R} y1=${y(t)} y2=${y(t)} /><text x=${L - 8} y=${y(t) + 4} text-anchor="end">${percent(t)}</text></g>`)}
    ${ticks(0, right).map((t) => html`<g key=${`x${t}`}><line class="grid" y1=${T} y2=${H - B} x1=${x(t)} x2=${x(t)} /><text x=${x(t)} y=${H - B + 18} text-anchor="middle">${percent(t)}</text></g>`)}
    ${bounds.map((b) => html`<g key=${`b${b.k}`}><rect class="never" x=${L} width=${W - L - R} y=${y(b.loss)} height=${Math.max(y(0) - y(b.loss), 0)} /><line class="bound" x1=${L} x2=${W - R} y1=${y(b.loss)} y2=${y(b.loss)} />
      <text x=${W - R - 4} y=${y(b.loss) + (y(0) - y(b.loss) > 24 ? 16 : -5)} text-anchor="end" class="bound-name">no release loses less than this${b.k ? `, with classes of at least ${b.k}` : ''}</text></g>`)}
    <line class="axis" x1=${L} x2=${W - R} y1=${y(0)} y2=${y(0)} /><line class="axis" x1=${L} x2=${L} y1=${T} y2=${y(0)} />
    <text class="title" x=${(L + W - R) / 2} y=${H - 8} text-anchor="middle">chance of picking the right person, on average</text>
    <text class="title" transform=${`translate(14 ${(T + H - B) / 2}) rotate(-90)`} text-anchor="middle">detail lost</text>
    <g>${points.map((row, i) => html`<g key=${`${row.algorithm}-${row.k}`} class=${`point ${i === at ? 'picked' : ''}`} transform=${`translate(${x(risk(row))} ${y(row.gcp)})`} role="button" tabindex=${i === Math.max(at, 0) ? 0 : -1}
      aria-label=${`${row.algorithm}${row.k ? `, classes of at least ${row.k}` : ''}: ${percent(row.gcp, 1)} of the detail lost, chance ${percent(risk(row), 1)}`} onClick=${() => onPick(row)} onKeyDown=${(e) => move(e, i)}>
      <circle r="14" class="halo" /><path class=${`mark m${names.indexOf(row.algorithm) % MARKS.length}`} d=${MARKS[names.indexOf(row.algorithm) % MARKS.length]} /></g>`)}</g></svg>
    <figcaption class="legend">${names.filter((name) => points.some((row) => row.algorithm === name)).map((name) => html`<span key=${name}><svg viewBox="-9 -9 18 18" width="16" height="16" aria-hidden="true"><path class=${`mark m${names.indexOf(name) % MARKS.length}`} d=${MARKS[names.indexOf(name) % MARKS.length]} /></svg>${name}</span>`)}</figcaption></figure>`;
}

