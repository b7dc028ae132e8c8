// How Node.js finds what a file imports from beside itself: also without its ending, as Bun does, for which plugins are written.
// The endings are those of `agents/config/javascript.py`, by which the files were found that are here.
const ENDINGS = [".js", ".mjs", ".ts", ".mts", ".cjs", ".cts", ".jsx", ".tsx", ".json"];
const MISSED = new Set(["ERR_MODULE_NOT_FOUND", "ERR_UNSUPPORTED_DIR_IMPORT"]);

function* others(name) {
  for (const ending of ENDINGS) yield name + ending;
  if (/\.m?js$/.test(name)) yield name.replace(/js$/, "ts");
  for (const ending of ENDINGS) yield `${name}/index${ending}`;
}

export async function resolve(name, context, next) {
  try {
    return await next(name, context);
  } catch (error) {
    if (!/^\.\.?(\/|$)/.test(name) || !MISSED.has(error.code)) throw error;
    for (const other of others(name)) {
      const found = await next(other, context).catch(() => null);
      if (found) return found;
    }
    throw error;
  }
}
