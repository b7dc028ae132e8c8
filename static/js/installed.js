// A page that is installed can say that the server is away, and a browser can be told by push. Loaded where one of them is so.
import { root } from "./root.js";

export const registered = navigator.serviceWorker?.register(new URL("../js/worker.js", import.meta.url), { scope: `${root}/` });
registered?.catch(() => {});
