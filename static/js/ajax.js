// htmx.ajax, whose promise rejects when a newer request takes its place, the page is left, or the server cannot be
// reached. None of that is an error of the caller: toast.js has said what is wrong.
export async function ajax(verb, url, how) {
  try {
    await window.htmx.ajax(verb, url, how);
  } catch {
    // said above
  }
}
