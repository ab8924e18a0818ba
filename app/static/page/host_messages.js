// Streamlit reports every run to the window that embeds it. A page that is not embedded gets these messages itself and
// checks the sender of each against a list of allowed origins, about 5 % of what a turn of a knob costs the page.
// Nothing acts on them there, so stop them before Streamlit's listener.

if (window.parent === window)
  addEventListener(
    "message",
    (event) => {
      if (event.source === window && event.data?.stCommVersion) event.stopImmediatePropagation();
    },
    true,
  );
