// Before the path of every address of this server: empty, or the path below which a proxy has it.
export const root = document.documentElement.dataset.root;
