// Text of files that is not saved yet, kept in the browser: `{base, seen, text, ending}` by project and path; `base` is
// what it was made of.
import { rows } from "./disk.js";

const disk = rows("opencode-web-files", "drafts");
const name = (path) => `${document.body.dataset.project}:${path}`;

// What is written in the last moment of a page has no time to get there.
const LAST = "draft-of-file:";

export const drafts = {
  async get(path) {
    const last = localStorage.getItem(LAST + name(path));
    return last ? JSON.parse(last) : disk.get(name(path));
  },
  async put(path, draft) {
    const kept = await disk.put(name(path), draft);
    if (kept) localStorage.removeItem(LAST + name(path));
    return kept;
  },
  drop(path) {
    localStorage.removeItem(LAST + name(path));
    return disk.drop(name(path));
  },
  // At once, as far as there is room.
  hold(path, draft) {
    try {
      localStorage.setItem(LAST + name(path), JSON.stringify(draft));
    } catch {
      this.put(path, draft);
    }
  },
};
