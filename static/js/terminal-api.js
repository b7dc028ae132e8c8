// The operations of `/api/pty`, about the folder that the panel belongs to.
import { root } from "./root.js";

const panel = document.getElementById("terminal");
const about = new URLSearchParams({ "location[directory]": panel.dataset.directory });
const { "X-CSRF-Token": token } = JSON.parse(document.body.getAttribute("hx-headers"));

export class Refused extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
}

// The data of an answer; throws Refused, also when there is no answer (status 0).
export async function ask(method, path = "", body = undefined) {
  const headers = { "X-CSRF-Token": token, ...(body && { "Content-Type": "application/json" }) };
  const answer = await fetch(`${root}/api/pty${path}?${about}`, { method, headers, body: body && JSON.stringify(body) }).catch(() => null);
  if (!answer) throw new Refused(0, "the server cannot be reached.");
  if (answer.status === 204) return null;
  const told = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Refused(answer.status, told.message || told.data?.message || `the server answered ${answer.status}.`);
  return told.data;
}

export function address(id, cursor) {
  const query = new URLSearchParams(about);
  query.set("cursor", cursor);
  return `${root}/api/pty/${id}/connect?${query}`;
}
