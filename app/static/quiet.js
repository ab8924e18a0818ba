// Streamlit tells its host of every run. A page that has no host tells itself, and weighs the sender of each such message
// against every origin a host might have: a twentieth of what a turn costs the page. Nobody acts on them; stop them here.
if (window.parent === window)
  addEventListener("message", (e) => {
    if (e.source === window && e.data?.stCommVersion) e.stopImmediatePropagation();
  }, true);
