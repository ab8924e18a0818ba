// Stylesheets and theme for our components: colours come from one table (app/figures/palette.py), the rest from Streamlit's theme.

// Streamlit makes a new entry of the browser's history whenever the address changes. Ours changes with every turn of a knob,
// and Back undoes none of them: they replace each other, so that Back leaves the page.
const push = history.pushState;
if (!push.replaces) {
  history.pushState = function (state, title, url) {
    const here = url === undefined || url === null || new URL(url, location.href).pathname === location.pathname;
    return here ? history.replaceState(state, title, url) : push.call(history, state, title, url);
  };
  history.pushState.replaces = true;
}

/** Load a stylesheet into a shadow root once, before anything is shown. */
export function styled(root, base, file) {
  return new Promise((done) => {
    const link = document.createElement("link");
    link.rel = "stylesheet";
    link.href = base + file;
    link.onload = link.onerror = () => done();
    root.appendChild(link);
  });
}

/** "dark" or "light", by the page's own background. */
export function theme(el) {
  const colour = getComputedStyle(el).getPropertyValue("--st-background-color").trim();
  const probe = (theme.context ??= document.createElement("canvas").getContext("2d"));
  probe.fillStyle = "#ffffff";
  probe.fillStyle = colour || "#ffffff";
  const [r, g, b] = [1, 3, 5].map((i) => parseInt(probe.fillStyle.slice(i, i + 2), 16));
  return 0.299 * r + 0.587 * g + 0.114 * b < 128 ? "dark" : "light";
}

/** Write to the page only what has changed: a write that changes nothing still costs a style and a layout. */
export function put(el, name, value) {
  const kept = (el._put ??= {});
  if (kept[name] === value) return;
  kept[name] = value;
  if (name === "text") el.textContent = value;
  else if (name === "class") el.className = value;
  else if (name in PROPERTIES) el[name] = value;
  else el.setAttribute(name, value);
}
const PROPERTIES = { hidden: 1, disabled: 1, title: 1, tabIndex: 1 };

/** Make the palette available as CSS variables, and return the theme's table. */
export function themed(el, palettes) {
  const name = theme(el);
  if (el.dataset.theme !== name) {
    el.dataset.theme = name;
    for (const [k, v] of Object.entries(palettes[name])) el.style.setProperty(`--${k}`, v);
  }
  return palettes[name];
}

/** Build a component once in its host, then hand it every newer message; those that came while it was being built are not lost. */
export async function once(component, file, build) {
  const host = component.parentElement;
  host._latest = component;
  if (host._part === undefined) {
    host._part = null;
    await styled(host, component.data.base, file);
    host._part = build(host, host._latest.data);
  }
  const part = host._part;
  if (!part) return;
  const { data, setStateValue, setTriggerValue, tell } = host._latest;
  part.emit = setStateValue;
  part.tell = tell ?? (() => false);
  part.fire = setTriggerValue;
  part.palette = themed(part.box, data.palettes);
  part.adopt(data);
}
