// Speaking to the server: the token travels in a header, never in an address.

let token = sessionStorage.getItem('shoal-token') || '';

export class Refusal extends Error {
  constructor({code = '', message = 'Something went wrong', hint = ''} = {}, status = 0) {
    super(message);
    this.code = code;
    this.hint = hint;
    this.status = status;
  }
}

const gone = () => new Refusal({code: 'gone', message: 'shoal is not running any more',
  hint: 'Start it again in the terminal: shoal ui'});

// Takes the token out of the link, and the link out of the address bar.
export async function enter() {
  const words = new URLSearchParams(location.hash.slice(1));
  const given = words.get('token'), entry = words.get('entry');
  if (given || entry) history.replaceState(null, '', location.pathname);
  if (given) token = given;
  if (entry) {
    const answer = await send('POST', '/api/enter', {word: entry}).catch(() => null);
    if (answer) token = answer.token;
  }
  sessionStorage.setItem('shoal-token', token);
  return token !== '';
}

async function request(path, options) {
  let answer;
  try {
    answer = await fetch(path, {...options, headers: {...options.headers, Authorization: `Bearer ${token}`}});
  } catch (error) {
    if (error.name === 'AbortError') throw error;
    throw gone();
  }
  if (answer.ok) return answer;
  const body = await answer.json().catch(() => ({}));
  throw new Refusal(body.error, answer.status);
}

export async function send(method, path, body) {
  const headers = body === undefined ? {} : {'Content-Type': 'application/json'};
  const answer = await request(path, {method, headers, body: body && JSON.stringify(body)});
  const found = await answer.json();
  if (found.error) throw new Refusal(found.error);
  return found;
}

export const get = (path) => send('GET', path);

// Uploads with progress, which fetch cannot tell.
export function upload(path, file, tell) {
  const call = new XMLHttpRequest();
  const done = new Promise((resolve, reject) => {
    call.open('POST', path);
    call.setRequestHeader('Authorization', `Bearer ${token}`);
    call.upload.onprogress = (event) => tell(event.loaded / Math.max(event.total, 1));
    call.onerror = () => reject(gone());
    call.onabort = () => reject(new Refusal({code: 'stopped', message: 'The upload was stopped'}));
    call.onload = () => {
      let body = {};
      try { body = JSON.parse(call.responseText); } catch { /* told as a refusal */ }
      if (call.status === 200 && !body.error) resolve(body); else reject(new Refusal(body.error, call.status));
    };
    call.send(file);
  });
  return {done, stop: () => call.abort()};
}

// Server-sent events, read by fetch because EventSource sends no header.
export async function follow(path, tell, signal) {
  const answer = await request(path, {signal});
  const reader = answer.body.getReader(), decoder = new TextDecoder();
  let waiting = '';
  for (;;) {
    let part;
    try { part = await reader.read(); } catch (error) { throw error.name === 'AbortError' ? error : gone(); }
    if (part.done) return;
    waiting += decoder.decode(part.value, {stream: true});
    const blocks = waiting.split('\n\n');
    waiting = blocks.pop();
    for (const block of blocks) {
      if (block.startsWith('data: ')) tell(JSON.parse(block.slice(6)));
    }
  }
}

// A link cannot carry a header, so a download has a ticket that is good once.
export async function download(path, file) {
  const {href} = await send('POST', path, {file});
  const link = document.createElement('a');
  link.href = href;
  link.download = '';
  link.click();
}
