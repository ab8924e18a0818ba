// Turning a knob changes the page's address, and Streamlit makes an entry of the browser's history of every change.
// Back would undo none of them, so entries of the same page replace each other, and Back leaves the page.

const pushState = history.pushState.bind(history);

/**
 * Replace the present entry when only the query changes; add an entry when the page changes.
 * @param {unknown} state
 * @param {string} title
 * @param {string | URL | null} [url]
 */
history.pushState = (state, title, url) => {
  const samePage = url === undefined || url === null || new URL(url, location.href).pathname === location.pathname;
  if (samePage) history.replaceState(state, title, url);
  else pushState(state, title, url);
};
