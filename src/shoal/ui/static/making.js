// Making the release of the chosen candidate: one job, shown by the steps Inspect and Release.

import {html, useEffect} from './vendor/htm-preact.js';
import {current, fail, note, policy, about, start, state} from './store.js';
import {Button, Work, ended} from './parts.js';

const wanted = () => ({policy: policy(), algorithm: state.doc.chosen.algorithm, parameters: state.doc.chosen.parameters, seed: 0, order: state.doc.order, format: state.doc.format, refine: Boolean(state.doc.chosen.refine)});

export function madeAsDecided() {
  const id = state.doc.releaseJob;
  if (!id || !current(id)) return false;
  const {policy: _, ...rest} = wanted(), given = about(id);
  return Object.entries(rest).every(([key, value]) => JSON.stringify(given[key]) === JSON.stringify(value));
}

export async function make() { note({releaseJob: await start('release', wanted())}); }

let starting = false;

// Makes it as soon as it is looked at, and again when a decision has changed; not again after a stop or a failure.
export function useRelease() {
  const id = state.doc.releaseJob, job = id && state.jobs[id];
  const right = madeAsDecided();
  useEffect(() => {
    if (right || starting || !state.doc.chosen) return;
    starting = true;
    make().catch(fail).finally(() => { starting = false; });
  });
  return {id, job: right ? job : null, result: (right && job && (job.result || job.made)) || null};
}

export function Making({id, job, result}) {
  if (result && job.status === 'done') return null;
  if (result && job.status !== 'running') return ended(job, 'The report', 'The release is there all the same.');
  if (result) return html`<${Work} id=${id} job=${job} title="Attacking it, and writing the report" />`;
  if (!job || job.status === 'running') return html`<${Work} id=${id || 'release'} job=${job || {}} title="Making the release" /><p class="help">The first run on a machine takes up to a minute longer: methods are prepared once, and kept.</p>`;
  return html`${ended(job, 'Making the release')}<p><${Button} kind="main" id="make" onClick=${() => make().catch(fail)}>Make it again<//></p>`;
}
