// Mount one of our components: load its stylesheet, build it once, then give it every newer message.
import "./history.js";
import { applyPalette, loadStylesheet } from "./theme.js";

/** @import { Common, MountArguments, Part, PartHost } from "../messages.js" */

/** @type {WeakMap<PartHost, MountArguments<any>>} the newest arguments of each host: some come while it is built */
const newest = new WeakMap();

/**
 * @template {Common} Message
 * @param {MountArguments<Message>} component  what Streamlit calls a component with, again on every message
 * @param {string} stylesheet  file in app/static/
 * @param {(host: PartHost, message: Message) => Part<Message>} build  adds the component to the page
 */
export async function mountOnce(component, stylesheet, build) {
  const host = component.parentElement;
  newest.set(host, component);
  if (host._part === undefined) {
    host._part = null; // being built
    await loadStylesheet(host, component.data.base, stylesheet);
    host._part = build(host, (newest.get(host) ?? component).data);
  }
  const part = host._part;
  if (!part) return;
  const { data, setStateValue, setTriggerValue, send } = newest.get(host) ?? component;
  part.setState = setStateValue;
  part.setTrigger = setTriggerValue;
  part.send = send ?? (() => false);
  part.palette = applyPalette(part.box, data.palettes);
  part.update(data);
}
