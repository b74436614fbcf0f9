// Requests to this server, and the events of its streams.

export class Failure extends Error {
  constructor(status, told) {
    super(told.message || "The server answered with status " + status + ".");
    this.status = status;
    this.code = told.code || "Internal";
    this.next = told.next || "none";
  }
}

let signIn = () => {};
export const onSignIn = hear => { signIn = hear; };

// the address of something of a corpus; each part is escaped
export const at = (corpus, ...parts) => "/api/v1/" + [corpus, ...parts].map(encodeURIComponent).join("/");

async function send(path, {method = "GET", json, body, signal, query} = {}) {
  const words = new URLSearchParams(Object.entries(query || {}).filter(([, v]) => v !== "" && v !== null && v !== undefined));
  const headers = body ? {"X-Sensegraph": "1"} : method === "GET" ? {} : {"Content-Type": "application/json"};
  const sent = body || (method === "GET" ? undefined : JSON.stringify(json || {}));
  const reply = await fetch(path + (words.size ? "?" + words : ""), {method, headers, body: sent, signal, credentials: "same-origin"});
  if (reply.ok) return reply;
  let told = {};
  try {
    told = (await reply.json()).error || {};
  } catch {
    told = {};
  }
  if (reply.status === 401 && path !== "/api/v1/session") signIn();
  throw new Failure(reply.status, told);
}

export async function get(path, query, signal) {
  return (await send(path, {query, signal})).json();
}

export async function post(path, json, signal) {
  return (await send(path, {method: "POST", json, signal})).json();
}

export async function upload(path, form) {
  return (await send(path, {method: "POST", body: form})).json();
}

export async function remove(path, query) {
  const reply = await send(path, {method: "DELETE", query});
  return reply.status === 204 ? {} : reply.json();
}

// The events that answer a request, one by one, as {name, data}.
export async function* stream(path, json, signal) {
  const reply = await send(path, {method: "POST", json, signal});
  const reader = reply.body.pipeThrough(new TextDecoderStream()).getReader();
  let held = "";
  for (;;) {
    const {value, done} = await reader.read();
    if (done) return;
    held += value;
    const events = held.split("\n\n");
    held = events.pop();
    for (const one of events) {
      const fields = {};
      for (const line of one.split("\n")) {
        const colon = line.indexOf(": ");
        if (colon > 0) fields[line.slice(0, colon)] = line.slice(colon + 2);
      }
      if (fields.data) yield {name: fields.event, data: JSON.parse(fields.data)};
    }
  }
}
