// Step 1: which table.

import {html, useRef, useState} from '../vendor/htm-preact.js';
import * as api from '../api.js';
import {fail, go, set, state} from '../store.js';
import {Button, Field, Filled, Heading, Icon, Notice, Refused, count, plural} from '../parts.js';

const mb = (bytes) => Math.round(bytes / 1048576);

async function enter(made) {
  const space = await made;
  go('columns', space.id);
}

function Drop({reading, onError}) {
  const [over, setOver] = useState(false), [sending, setSending] = useState(null);
  const field = useRef();
  const most = state.about.largest_upload;
  const take = async (file) => {
    if (!file) return;
    onError(null);
    if (file.size > most) {
      onError({message: `This file has ${count(mb(file.size))} MB; at most ${count(mb(most))} MB can be uploaded`, hint: 'Give its path below: it is read where it is, however large.'});
      return;
    }
    const words = new URLSearchParams({name: file.name, ...reading});
    const sent = api.upload(`/api/upload?${words}`, file, (share) => setSending((old) => old && {...old, share}));
    setSending({name: file.name, share: 0, stop: sent.stop});
    try { await enter(sent.done); } catch (error) { if (error.code === 'gone') fail(error); else onError(error); }
    setSending(null);
  };
  const drop = (event) => { event.preventDefault(); setOver(false); take(event.dataTransfer.files[0]); };
  if (sending) {
    return html`<div class="drop"><p>Receiving ${sending.name}</p><div class="bar" role="progressbar" aria-label="Upload" aria-valuenow=${Math.round(100 * sending.share)}><${Filled} share=${sending.share} /></div>
      <${Button} kind="quiet" onClick=${sending.stop}>Stop<//></div>`;
  }
  return html`<div class=${`drop ${over ? 'over' : ''}`} onDragOver=${(e) => { e.preventDefault(); setOver(true); }} onDragLeave=${() => setOver(false)} onDrop=${drop}>
    <${Icon} name="file" /><p><strong>Drop a file here</strong><br />CSV, Parquet or Arrow, up to ${count(mb(most))} MB</p>
    <input id="file" class="unseen" type="file" ref=${field} tabindex="-1" aria-label="Choose a file" accept=".csv,.tsv,.txt,.gz,.parquet,.pq,.arrow,.feather,.ipc" onChange=${(e) => { take(e.target.files[0]); e.target.value = ''; }} />
    <${Button} kind="main" id="choose" onClick=${() => field.current.click()}>Choose a file<//></div>`;
}

function Reading({reading, setReading}) {
  const put = (key) => (event) => setReading({...reading, [key]: event.target.value});
  return html`<details class="more"><summary>How a CSV file is read</summary><div class="row">
    <${Field} id="delimiter" label="Columns are separated by"><select id="delimiter" value=${reading.delimiter} onChange=${put('delimiter')}>
      <option value="">found by itself</option><option value=",">comma</option><option value=";">semicolon</option><option value="\t">tab</option><option value="|">bar</option></select><//>
    <${Field} id="encoding" label="Encoding"><select id="encoding" value=${reading.encoding} onChange=${put('encoding')}>
      <option value="utf-8">UTF-8</option><option value="latin-1">Latin-1 (Western European)</option><option value="cp1252">Windows-1252</option><option value="utf-16">UTF-16</option></select><//>
    <${Field} id="null" label="A word that means missing"><input id="null" type="text" placeholder="such as NA" value=${reading.null} onInput=${put('null')} /><//></div></details>`;
}

function Already() {
  if (!state.spaces.length) return null;
  const close = async (id) => {
    await api.send('DELETE', `/api/spaces/${id}`);
    set({spaces: state.spaces.filter((space) => space.id !== id)});
  };
  return html`<section class="already"><h2>Open tables</h2><ul>${state.spaces.map((space) => html`<li key=${space.id}>
    <a href=${`#/${space.id}/columns`}>${space.name}</a><span>${space.records === null ? '' : plural(space.records, 'record')}</span>
    <${Button} kind="quiet" onClick=${() => close(space.id).catch(fail)} aria-label=${`Close ${space.name}`}>Close<//></li>`)}</ul></section>`;
}

function Open() {
  return html`<${Heading} title=${state.space.name}>${plural(state.opened.records, 'record')}, ${plural(state.opened.columns.length, 'column')}. The file itself is only read, never changed.<//>
    <div class="ends"><${Button} onClick=${() => go('table', null)} id="another">Another table<//><${Button} kind="main" after="next" id="next" onClick=${() => go('columns')}>Columns<//></div>`;
}

export function TableStep() {
  const [error, setError] = useState(null), [path, setPath] = useState(''), [busy, setBusy] = useState(false);
  const [reading, setReading] = useState({delimiter: '', encoding: 'utf-8', null: ''});
  if (state.space) return html`<${Open} />`;
  const given = Object.fromEntries(Object.entries(reading).filter(([, value]) => value));
  const open = async (body) => {
    setError(null);
    setBusy(true);
    try { await enter(api.send('POST', '/api/spaces', body)); } catch (e) { if (e.status === 401) fail(e); else setError(e); }
    setBusy(false);
  };
  const byPath = (event) => { event.preventDefault(); open({path, ...given}); };
  return html`<${Heading} title="Which table?">A table about people goes in; one that can be published comes out. Nothing leaves this machine: the page talks to a program that runs here, and what it stores is removed when that program ends.<//>
    <${Refused} error=${error} />
    <div class="choices"><${Drop} reading=${given} onError=${setError} />
      <div class="stack">
        <form class="card" onSubmit=${byPath}><h2>Read a table where it is</h2><p class="help">For large files and for databases: a path, or an address such as <code>clinic.sqlite/visits</code> or <code>postgresql://host/clinic/visits</code>.</p>
          <div class="joined"><input id="path" type="text" aria-label="Path of a file, or address of a database table" placeholder="/home/me/patients.parquet" autocomplete="off" spellcheck="false" value=${path} onInput=${(e) => setPath(e.target.value)} />
          <button class="button plain" type="submit" id="open-path" disabled=${busy || !path.trim()}><span>Open</span></button></div></form>
        <div class="card"><h2>Try it first</h2><p class="help">10,000 patients of an invented hospital. Nobody in it exists.</p>
          <${Button} id="demo" onClick=${() => open({demo: true})} disabled=${busy}>Open the demonstration<//></div>
      </div></div>
    <${Reading} reading=${reading} setReading=${setReading} />
    <${Already} />`;
}
