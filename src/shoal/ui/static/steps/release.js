// Step 6: the verdict, and the files to hand over and to keep.

import {html, useState} from '../vendor/htm-preact.js';
import * as api from '../api.js';
import {decide, fail, go, say, state} from '../store.js';
import {Button, Heading, Icon, Notice, count, listed, plural} from '../parts.js';
import {Making, useRelease} from '../making.js';

const HOW = {published: 'counted again in the published table', construction: 'holds for the classes; the published values cannot show it', proof: 'proved for the mechanism'};
const FILES = {
  table: ['The table', 'to hand over'], report: ['The report', 'for those who decide'], manifest: ['The manifest', 'what it keeps, how it was made, its checksum'], policy: ['The policy', 'to make it again'],
};
const number = (x) => (x === null ? '∞' : Number.isInteger(x) ? count(x) : Number(x).toPrecision(3));

function Verdict({result}) {
  const {evidence} = result, holds = evidence.holds && result.written.holds;
  return html`<section class=${`verdict ${holds ? 'holds' : 'fails'}`}><${Icon} name=${holds ? 'check' : 'cross'} /><div><h2>${holds ? 'Every promise holds' : 'The policy does not hold'}</h2>
    <p>${plural(evidence.records, 'record')} in ${plural(evidence.classes, 'class', 'classes')}, ${plural(evidence.suppressed, 'person', 'people')} left out. The file was written, read back, and checked again.</p></div></section>
    <div class="scroll"><table class="promises"><thead><tr><th scope="col">Promise</th><th scope="col">About</th><th scope="col" class="number">Required</th><th scope="col" class="number">Reached</th><th scope="col" class="wide">How it is known</th></tr></thead>
    <tbody>${evidence.promises.map((p) => html`<tr><th scope="row"><${Icon} name=${p.holds ? 'check' : 'cross'} />${p.model}<small class="narrow">${HOW[p.how] || p.how}</small></th><td>${p.column || 'everyone'}</td><td class="number">${p.better === 'higher' ? 'at least' : 'at most'} ${number(p.required)}</td><td class="number">${number(p.achieved)}</td><td class="wide">${HOW[p.how] || p.how}</td></tr>`)}</tbody></table></div>`;
}

function Files({id, job, result}) {
  const fetchIt = (file) => api.download(`/api/spaces/${state.space.id}/jobs/${id}/files`, file).then(() => say(`${FILES[file][0]} is being downloaded`)).catch(fail);
  const pending = !('report' in result.files);
  return html`<section><h2>Files</h2><ul class="files">${Object.keys(FILES).filter((file) => file in result.files).map((file) => html`<li key=${file}><div><b>${FILES[file][0]}</b><span>${FILES[file][1]}</span><code>${result.files[file]}</code></div>
    <${Button} kind=${file === 'table' ? 'main' : 'plain'} icon="down" id=${`get-${file}`} onClick=${() => fetchIt(file)} aria-label=${`Download ${FILES[file][0].toLowerCase()}`}>Download<//></li>`)}
    ${pending && html`<li class="pending"><div><b>${FILES.report[0]}</b><span>${job.status === 'running' ? 'is being written …' : 'was not written'}</span></div></li>`}</ul>
    <p class="help">Checksum of the table (SHA-256): <code class="hash">${result.written.sha256}</code></p></section>`;
}

function Again({result}) {
  const [copied, setCopied] = useState(false);
  const copy = async () => { await navigator.clipboard.writeText(result.command).catch(() => null); setCopied(true); say('Copied'); setTimeout(() => setCopied(false), 2000); };
  return html`<section><h2>Make it again</h2><p>${result.repeatable ? 'With the policy file beside the original table, this command writes the same file, byte for byte.' : 'With the policy file beside the original table, this command makes the same release; its bytes differ, because something in it is drawn at random and kept nowhere.'}</p>
    <pre class="command" tabindex="0"><code id="command">${result.command}</code></pre><${Button} kind="small" id="copy" onClick=${copy}>${copied ? 'Copied' : 'Copy'}<//></section>`;
}

function How() {
  return html`<details class="more"><summary>How the table is written</summary><div class="row">
    <div class="field"><label for="order">Order of the records</label><select id="order" value=${state.doc.order} onChange=${(e) => decide('order of the records', () => ({order: e.target.value}))}>
      <option value="sort">sorted by what is published: the same bytes every time</option><option value="shuffle">shuffled: never the same bytes twice</option></select><p class="help">Neither says anything about the order of the original.</p></div>
    <div class="field"><label for="format">Format</label><select id="format" value=${state.doc.format} onChange=${(e) => decide('format', () => ({format: e.target.value}))}><option value="csv">CSV</option><option value="parquet">Parquet</option><option value="arrow">Arrow</option></select></div></div></details>`;
}

function Asis() {
  const asis = Object.keys(state.doc.columns).filter((name) => ['other', 'weight'].includes(state.doc.columns[name].role));
  return asis.length ? html`<${Notice} kind="warn" title=${`Published as ${asis.length === 1 ? 'it is' : 'they are'}: ${listed(asis)}.`}>No promise speaks about ${asis.length === 1 ? 'this column' : 'these columns'}.<//>` : null;
}

export function ReleaseStep() {
  const release = useRelease(), {result, id} = release;
  return html`<${Heading} title="Release">Everything below was computed from the file itself, not from what was intended.<//>
    <${Making} ...${release} />
    ${result && html`<${Verdict} result=${result} /><${Asis} /><${Files} id=${id} job=${release.job} result=${result} /><${Again} result=${result} />`}
    <${How} />
    <div class="ends"><${Button} icon="back" id="back" onClick=${() => go('inspect')}>Inspect<//><${Button} id="finish" onClick=${() => go('table', null)}>Another table<//></div>`;
}
