// A prompt as its author wrote it, once more for the composer.
import { form } from "./composer.js";
import { mentions } from "./mentions.js";
import { thisPage } from "./page.js";

// Its text and attached files, with its mentions known to the composer; null when it is no more. Whoever asked on
// a page that was left meanwhile gets no answer.
async function written(where) {
  const here = thisPage();
  const answer = await fetch(where).catch(() => null);
  const found = answer?.ok ? await answer.json().catch(() => null) : null; // also where it is empty
  if (!here()) return new Promise(() => {});
  if (!found) return null;
  mentions.add(...found.agents);
  for (const part of found.parts) mentions.attach(...part);
  return found;
}

export const waiting = (id) => written(`${form.dataset.base}/inbox/${id}`);
export const said = (id) => written(`${form.dataset.base}/messages/${id}/prompt`);

// The one before it, with its `id`: of this session, then of others of the project.
export function earlier(id) {
  return written(`${form.dataset.earlier}?${new URLSearchParams({ session: document.body.dataset.session, before: id })}`);
}
