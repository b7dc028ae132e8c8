// A page that is installed can say that the server is away. Loaded where it is a window of its own.
import { root } from "./root.js";

navigator.serviceWorker?.register(new URL("../js/worker.js", import.meta.url), { scope: `${root}/` }).catch(() => {});
